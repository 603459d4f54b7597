// SPDX-License-Identifier: Apache-2.0
// Stat: the change since the previous observation, and the active elements of each unit of a layer.
#include <tests/stat/samples.hpp>

#include <spotter/stat/delta.hpp>
#include <spotter/stat/units.hpp>

#include <tests/catch.hpp>

using namespace spotter;
using namespace samples;

namespace {

template <class Value>
summary change(std::vector<Value> const& now, std::vector<Value> const& before) {
    summary into;
    compare_with_previous(as_tensor(now), as_tensor(before), 4, into);
    return into;
}
struct counts {
    std::vector<std::uint32_t> active, finite;
    bool operator==(counts const&) const = default;
};
counts units_of(tensor_ref const& view, int axis = default_axis) {
    std::size_t const units = static_cast<std::size_t>(unit_count(view.shape, axis));
    counts out{std::vector<std::uint32_t>(units), std::vector<std::uint32_t>(units)};
    count_active(view, axis, out.active.data(), out.finite.data());
    return out;
}

}  // namespace

TEST_CASE("a delta has the size of the change, the old size, the dot product and the changed elements") {
    summary const of = change(std::vector<float>{3, 4.005F, 0}, std::vector<float>{3, 4, -0.0F});
    CHECK((of.has_previous && of.previous_index == 4 && of.changed == 1 && has(of.has, stats_mask::change)));
    CHECK(of.previous_sum_squares == 25);
    CHECK(of.delta_sum_squares == Approx(0.005 * 0.005).epsilon(1e-3));
    CHECK(of.dot == Approx(9 + 16.02));
}

TEST_CASE("a delta of complex numbers sees both halves") {
    summary const of = change(std::vector<c64>{{1, 2}, {3, 4}}, std::vector<c64>{{1, 0}, {0, 4}});
    CHECK((of.delta_sum_squares == 13 && of.changed == 2 && of.previous_sum_squares == 17 && of.dot == 17));
}

TEST_CASE("a change from or to a non-finite value, another shape, type or order has no size") {
    CHECK_FALSE(change(std::vector<float>{1, nan_f}, std::vector<float>{1, 2}).has_previous);
    CHECK_FALSE(change(std::vector<float>{1, 2}, std::vector<float>{pos_infinity_f, 2}).has_previous);
    CHECK_FALSE(change(std::vector<float>{1, 2}, std::vector<float>{1, 2, 3}).has_previous);
    std::vector<float> const values(6);
    std::vector<double> const wide(6);
    summary into;
    compare_with_previous(as_tensor(values), as_tensor(wide), 0, into);
    CHECK((has(into.has, stats_mask::change) && !into.has_previous));
    compare_with_previous(view_of(values.data(), {2, 3}), view_of(values.data(), {3, 2}), 0, into);
    CHECK_FALSE(into.has_previous);
    compare_with_previous(view_of(values.data(), {2, 3}), view_of(values.data(), {2, 3}, order::column_major), 0, into);
    CHECK_FALSE(into.has_previous);
    compare_with_previous(view_of(values.data(), {2, 3}), view_of(values.data(), {2, 3}), 0, into);
    CHECK((into.has_previous && into.changed == 0 && into.delta_sum_squares == 0));
}

TEST_CASE("one ulp is a change, also between subnormals of single precision") {
    auto const tiny = std::bit_cast<float>(1U);
    CHECK(change(std::vector<float>{tiny}, std::vector<float>{0}).changed == 1);
    CHECK(change(std::vector<float>{1.0F}, std::vector<float>{std::bit_cast<float>(0x3F800001U)}).changed == 1);
}

TEST_CASE("units are counted along the second axis of a batch, in both orders") {
    // Two samples of three units.
    std::vector<float> const rows{1, 0, nan_f, 2, -0.0F, 3};
    std::vector<float> const cols{1, 2, 0, -0.0F, nan_f, 3};
    counts const wanted{{2, 0, 1}, {2, 2, 1}};
    CHECK(units_of(view_of(rows.data(), {2, 3})) == wanted);
    CHECK(units_of(view_of(cols.data(), {2, 3}, order::column_major)) == wanted);
    CHECK(units_of(view_of(rows.data(), {6})) == counts{{1, 0, 0, 1, 0, 1}, {1, 1, 0, 1, 1, 1}});
    CHECK(units_of(view_of(rows.data(), {2, 3}), 0) == counts{{1, 2}, {2, 3}});
    CHECK(units_of(view_of(rows.data(), {2, 3}), 2).active.empty());
    CHECK(units_of(as_tensor(1.0F)).active.empty());
    CHECK(unit_count({0, 3}, default_axis) == 3);
}

TEST_CASE("a unit of a convolution is a channel, whatever the order") {
    constexpr std::size_t n = 2, c = 3, h = 2, w = 2;
    splitmix random{3};
    std::vector<float> rows(n * c * h * w), cols(n * c * h * w);
    counts wanted{std::vector<std::uint32_t>(c), std::vector<std::uint32_t>(c, n * h * w)};
    for (std::size_t i = 0; i < n * c * h * w; ++i) {
        std::size_t const in = i / (c * h * w), ic = i / (h * w) % c, ih = i / w % h, iw = i % w;
        float const value = random.next() % 3 == 0 ? 0.0F : 1.0F;
        rows[i] = value;
        cols[in + n * (ic + c * (ih + h * iw))] = value;
        wanted.active[ic] += value != 0 ? 1 : 0;
    }
    CHECK(units_of(view_of(rows.data(), {n, c, h, w})) == wanted);
    CHECK(units_of(view_of(cols.data(), {n, c, h, w}, order::column_major)) == wanted);
}

namespace {

template <class Value>
std::vector<Value> any_values(std::size_t count, splitmix& random, bool healthy) {
    std::vector<Value> values(count);
    for (Value& each : values) {
        std::uint64_t const bits = random.next();
        if constexpr (std::is_floating_point_v<Value>) {
            each = static_cast<Value>((random.uniform() - 0.5) * 3);
            if (!healthy && bits % 300 == 0) {
                each = static_cast<Value>(bits % 2 == 0 ? nan_f : std::bit_cast<float>(0x00000005U));
            }
        } else {
            std::memcpy(static_cast<void*>(&each), &bits, sizeof each < sizeof bits ? sizeof each : sizeof bits);
        }
    }
    return values;
}
bool same_lanes(lane_sums const& a, lane_sums const& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

}  // namespace

TEMPLATE_TEST_CASE("changes by many lanes are bit-equal with the definition [D21]", "[D21]", float, double, std::int8_t,
                   std::int32_t, std::uint64_t, f16, bf16, f8_e5m2, c64) {
    splitmix random{17};
    for (bool const healthy : {true, false}) {
        for (std::size_t const count : {0U, 1U, 15U, 16U, 17U, 1023U, 1024U, 1040U, 3000U}) {
            std::vector<TestType> const now = any_values<TestType>(count, random, healthy);
            std::vector<TestType> before = any_values<TestType>(count, random, healthy);
            for (std::size_t i = 0; i < count; i += 3) { before[i] = now[i]; }
            INFO(count << " values");
            detail::change_sums fast, defined;
            tensor_ref const values = view_of(now.data(), {count}), old_values = view_of(before.data(), {count});
            compare_all(values, old_values, fast);
            detail::compare_elements(now.data(), std::as_const(before).data(), count, defined);
            CHECK((same_lanes(fast.gap, defined.gap) && same_lanes(fast.dot, defined.dot) &&
                   same_lanes(fast.old, defined.old)));
            CHECK((fast.changed == defined.changed && fast.finite == defined.finite));
            if constexpr (!std::is_same_v<TestType, c64>) {
                using Float = std::conditional_t<detail::is_narrow(dtype_of<TestType>), float, double>;
                std::vector<Float> const gradient = any_values<Float>(count, random, true);
                std::vector<Float> copy(count);
                copy_widened(old_values, copy.data());
                detail::along_sums along, by_element;
                detail::change_along_elements(now.data(), copy.data(), gradient.data(), count, by_element);
                change_along_all(values, copy.data(), gradient.data(), along);
                std::vector<Float> after(count);
                copy_widened(values, after.data());
                CHECK((count == 0 || std::memcmp(copy.data(), after.data(), count * sizeof(Float)) == 0));
                CHECK((same_lanes(along.products, by_element.products) && along.finite == by_element.finite));
            }
        }
    }
}

TEMPLATE_TEST_CASE("changes by vectors of every width are bit-equal [D21]", "[D21]", float, double) {
    splitmix random{23};
    std::size_t wrong = 0;
    for (std::size_t const zeroed : {0U, 1U, 3U}) {  // zeros among four values of `before`
        std::vector<TestType> const now = any_values<TestType>(1024, random, true);
        std::vector<TestType> before = any_values<TestType>(1024, random, true);
        for (std::size_t i = 0; i < before.size(); ++i) {
            before[i] = i % 4 < zeroed ? TestType{} : i % 5 == 0 ? now[i] : before[i];
        }
        auto const try_width = [&](auto compare) {
            detail::change_sums made, defined;
            compare(now.data(), before.data(), now.size(), made);
            detail::compare_elements(now.data(), std::as_const(before).data(), now.size(), defined);
            wrong += same_lanes(made.gap, defined.gap) && same_lanes(made.dot, defined.dot) &&
                             same_lanes(made.old, defined.old) && made.changed == defined.changed &&
                             made.changed < now.size()
                         ? 0
                         : 1;
        };
        try_width([](auto&&... all) { detail::compare_baseline<TestType>(all...); });
#if SPOTTER_X86_DISPATCH
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
            try_width([](auto&&... all) { detail::compare_avx2<TestType>(all...); });
        }
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) {
            try_width([](auto&&... all) { detail::compare_avx512<TestType>(all...); });
        }
#endif
    }
    CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("units by rows are bit-equal with the walk over elements", "", float, f16, double, std::int8_t) {
    splitmix random{29};
    for (std::uint64_t const units : {1U, 7U, 16U, 41U, 256U, 1500U}) {
        for (bool const healthy : {true, false}) {
            INFO(units << " units");
            std::vector<TestType> values = any_values<TestType>(static_cast<std::size_t>(5 * units), random, healthy);
            for (std::size_t i = 0; i < values.size(); i += 3) { values[i] = TestType{}; }
            tensor_ref const layer = view_of(values.data(), {5, units});
            std::vector<double> sums(static_cast<std::size_t>(units)), finite = sums, sums_defined = sums,
                                                                       finite_defined = sums;
            std::vector<std::uint32_t> active(static_cast<std::size_t>(units)), known = active, active_defined = active,
                                                                                known_defined = active;
            add_sizes(layer, 1, sums.data(), finite.data());
            count_active(layer, 1, active.data(), known.data());
            for_each_unit(layer, 1, [&](std::size_t unit, seen_element const& it) {
                if (it.kind >= number_class::pos_inf) { return; }
                sums_defined[unit] += it.size;
                finite_defined[unit] += 1;
                active_defined[unit] += it.kind == number_class::zero ? 0U : 1U;
                ++known_defined[unit];
            });
            CHECK((sums == sums_defined && finite == finite_defined && active == active_defined &&
                   known == known_defined));
        }
    }
}
