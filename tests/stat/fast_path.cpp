// SPDX-License-Identifier: Apache-2.0
// Stat: the fast path gives the same bits as the definition, for all sizes, types, terms, alignments and special
// values.
#include <tests/stat/samples.hpp>

#include <tests/catch.hpp>

using namespace spotter;
using namespace samples;

namespace {

template <class Value>
Value special(unsigned which) {
    if constexpr (std::is_floating_point_v<Value>) {
        constexpr bool wide = sizeof(Value) == 8;
        using Bits = std::conditional_t<wide, std::uint64_t, std::uint32_t>;
        constexpr Bits sign = Bits{1} << (sizeof(Value) * 8 - 1);
        constexpr Bits infinity = wide ? static_cast<Bits>(0x7FF0000000000000U) : Bits{0x7F800000U};
        constexpr Bits list[] = {infinity + 1, infinity, sign | infinity, 1, sign | 77, sign, 0};
        return std::bit_cast<Value>(list[which % 7]);
    } else if constexpr (requires { Value{}.bits; }) {
        return Value{static_cast<decltype(Value{}.bits)>(which * 0x7F7FU)};
    } else {
        return Value{};
    }
}
template <class Value>
std::vector<Value> random_values(std::size_t count, unsigned every, std::uint64_t seed) {
    splitmix random{seed};
    std::vector<Value> out(count);
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t const bits = random.next();
        if constexpr (std::is_same_v<Value, bool>) {
            out[i] = (bits & 1) != 0;
        } else if constexpr (std::is_integral_v<Value>) {
            out[i] = static_cast<Value>(bits);
        } else if constexpr (std::is_floating_point_v<Value>) {
            out[i] = static_cast<Value>((random.uniform() - 0.5) * 4);
        } else if constexpr (requires { Value{}.re; }) {
            out[i].re = static_cast<decltype(out[i].re)>(random.uniform() - 0.5), out[i].im = out[i].re * 2;
        } else {
            out[i].bits = static_cast<decltype(Value{}.bits)>(bits);
        }
        if (every != 0 && bits % every == 0) { out[i] = special<Value>(static_cast<unsigned>(bits >> 40)); }
    }
    return out;
}
stats_mask sums_of(unsigned bits) {
    constexpr stats_mask each[] = {stats_mask::sum,
                                   stats_mask::sum_abs,
                                   stats_mask::sum_squares,
                                   stats_mask::variance,
                                   stats_mask::range | stats_mask::zeros,
                                   stats_mask::abs_range};
    stats_mask wanted = stats_mask::nonfinite;
    for (unsigned i = 0; i < 6; ++i) { wanted |= (bits >> i & 1) != 0 ? each[i] : stats_mask::none; }
    return wanted;
}
// The number of sizes and term sets whose summary differs from the definition's.
template <class Value>
unsigned differences(std::size_t step, unsigned every) {
    unsigned wrong = 0;
    for (std::size_t count = 0; count <= 2100; count += count < 34 ? 1 : step) {
        std::vector<Value> const values = random_values<Value>(count, every, count * 31 + every);
        for (unsigned i = 0; i < 6; ++i) {
            stats_mask const wanted = sums_of(static_cast<unsigned>(count * 7 + i * 11 + (1U << i)));
            wrong += same_bits(summary_of(values, wanted), by_definition(values, wanted)) ? 0 : 1;
        }
    }
    return wrong;
}

}  // namespace

TEMPLATE_TEST_CASE("floats and doubles: the fast path is bit-equal with the definition [D21]", "[D21][S33]", float,
                   double) {
    CHECK(differences<TestType>(37, 0) == 0);
    CHECK(differences<TestType>(47, 5) == 0);
    CHECK(differences<TestType>(53, 900) == 0);  // some blocks have special values
}

TEMPLATE_TEST_CASE("every other type: the pass is bit-equal with the definition [D21]", "[D21]", std::int8_t,
                   std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t,
                   f16, bf16, f8_e4m3, f8_e5m2, c64, c128) {
    CHECK(differences<TestType>(131, 0) == 0);
    CHECK(differences<TestType>(257, 40) == 0);
}

TEST_CASE("each set of sums gives each sum the same bits") {
    std::vector<float> const values = random_values<float>(2064, 0, 5);  // two blocks and 16
    std::vector<double> const wide = random_values<double>(2064, 0, 6);
    summary const all = summary_of(values);
    for (unsigned bits = 0; bits < 64; ++bits) {
        stats_mask const wanted = sums_of(bits);
        CHECK(same_bits(summary_of(values, wanted), by_definition(values, wanted)));
        CHECK(same_bits(summary_of(wide, wanted), by_definition(wide, wanted)));
        summary const some = summary_of(values, wanted);
        if (has(some.has, stats_mask::sum)) { CHECK(bits_of(some.sum) == bits_of(all.sum)); }
        if (has(some.has, stats_mask::variance)) { CHECK(bits_of(some.moment2) == bits_of(all.moment2)); }
    }
    CHECK(same_bits(summary_of(values, all_terms), [&] {
        summary it = by_definition(values, all_terms);
        it.has = all_terms;
        return it;
    }()));
}

namespace {

// Sums a multiple of 16 elements from `offset` on, with every vector width of this processor. Returns the number of
// widths whose bits differ from the definition's.
template <class Value>
std::size_t widths_that_differ(std::vector<Value> const& memory, stats_mask sums, std::size_t offset = 0) {
    std::vector<Value> const values(memory.begin() + static_cast<std::ptrdiff_t>(offset), memory.end());
    summary const wanted = by_definition(values, sums);
    std::size_t wrong = 0;
    auto const try_width = [&](auto gather) {
        gathered into;
        into.result.count = values.size();
        bool const whole = gather(memory.data() + offset, values.size(), std::uint64_t{0}, sums, into) == values.size();
        wrong += whole && same_bits(into.finish(sums), wanted) ? 0 : 1;
    };
    try_width([](auto&&... all) { return detail::gather_baseline<Value>(all...); });
#if SPOTTER_X86_DISPATCH
    if (__builtin_cpu_supports("avx2")) {
        try_width([](auto&&... all) { return detail::gather_avx2<Value>(all...); });
    }
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) {
        try_width([](auto&&... all) { return detail::gather_avx512<Value>(all...); });
    }
#endif
    return wrong;
}

}  // namespace

TEMPLATE_TEST_CASE("vectors of every width give the same bits [D21]", "[D21]", float, double) {
    std::vector<TestType> const values = random_values<TestType>(1024 + 512, 3000, 11);
    // A product is always computed by the definition.
    CHECK(widths_that_differ(values, without(all_terms, stats_mask::hash | stats_mask::product)) == 0);
}

TEMPLATE_TEST_CASE(
    "blocks with NaN and infinities have the bits of the definition, from one of them to nothing else [T23]",
    "[D21][T23]", float, double) {
    auto const with = [](std::size_t first, std::size_t every, unsigned kinds) {
        std::vector<TestType> values = random_values<TestType>(5 * 1024 + 48, 0, first + every);
        values[7] = 0, values[2000] = -values[7];
        for (std::size_t i = first, n = 0; i < values.size(); i += every, ++n) {
            // NaN, infinities of either sign, a subnormal.
            values[i] = special<TestType>(static_cast<unsigned>(n * 5 % kinds));
        }
        return values;
    };
    std::size_t wrong = 0;
    for (std::size_t const every : {1U, 2U, 3U, 17U, 1000U, 1024U, 3000U}) {
        for (std::size_t const first : {0U, 5U, 1023U, 1024U, 4090U}) {
            for (unsigned const kinds : {1U, 3U, 4U}) {
                // Subnormal doubles depend on the process's flush mode.
                if (kinds == 4 && sizeof(TestType) == 8) { continue; }
                std::vector<TestType> const values = with(first, every, kinds);
                for (unsigned bits = 0; bits < 64; bits += 7) { wrong += widths_that_differ(values, sums_of(bits)); }
            }
        }
    }
    CHECK(wrong == 0);
    // Special values first, so that a block's first finite value is its last element.
    std::vector<TestType> late = with(0, 1, 3);
    late[1023] = TestType(-0.75), late[3000] = TestType(3);
    CHECK(widths_that_differ(late, sums_of(63)) == 0);
    CHECK(summary_of(late, stats_mask::range).minimum == -0.75);
    CHECK(summary_of(late, stats_mask::range).maximum == 3);
}

// A block's variance is computed together with the next block's sums: so every kind of block follows every other.
TEMPLATE_TEST_CASE(
    "blocks of every kind, in every order of three and before a short one, have the bits of the definition [D21]",
    "[D21]", float, double) {
    enum kind : std::size_t { ordinary, with_zeros, with_nan, nothing_but_nan, with_subnormal, kinds };
    // Subnormal doubles depend on the process's flush mode.
    std::size_t const known = sizeof(TestType) == 8 ? with_subnormal : kinds;
    std::size_t wrong = 0;
    for (std::size_t order = 0; order < known * known * known; ++order) {
        std::size_t const of_block[] = {order % known, order / known % known, order / known / known, order % 2};
        // 0 to 1056, so that a short block may follow a fourth.
        std::size_t const offset = order % 19, last = order % 7 * 176;
        std::vector<TestType> values = random_values<TestType>(offset + 3 * block_size + last, 0, order);
        for (TestType& value : values) { value += TestType(3); }  // all sums differ, and none is near 0
        for (std::size_t i = 0; i + offset < values.size(); ++i) {
            std::size_t const number = i / block_size < 3 ? i / block_size : 3;
            TestType& value = values[offset + i];
            switch (of_block[number]) {
                case with_zeros:
                    value = i % 3 == 0 ? TestType(0) : value;
                    break;
                case with_nan:
                    value = i % 5 == 0 ? special<TestType>(static_cast<unsigned>(i % 3)) : value;
                    break;
                case nothing_but_nan:
                    value = special<TestType>(0);
                    break;
                case with_subnormal:
                    value = i % 7 == 0 ? special<TestType>(3) : value;
                    break;
                default:
                    break;
            }
        }
        for (unsigned const sums : {63U, 8U, 9U, 26U}) { wrong += widths_that_differ(values, sums_of(sums), offset); }
    }
    CHECK(wrong == 0);
}

TEST_CASE("a tensor need not be aligned to a vector") {
    for (std::size_t offset = 0; offset < 16; ++offset) {
        std::vector<float> const values = random_values<float>(1100 + offset, 300, offset);
        std::vector<float> const moved(values.begin() + static_cast<std::ptrdiff_t>(offset), values.end());
        summary const there = summarize(view_of(values.data() + offset, {values.size() - offset}), all_terms);
        CHECK((same_bits(there, summary_of(moved)) && there.hash == summary_of(moved).hash));
    }
}

TEST_CASE("booleans are summed as 0 and 1") {
    bool values[100]{};
    for (std::size_t i = 0; i < 100; i += 3) { values[i] = true; }
    summary const of = summarize(as_tensor(values), all_terms);
    CHECK((of.sum == 34 && of.zeros == 66 && of.maximum == 1 && of.minimum == 0));
}
