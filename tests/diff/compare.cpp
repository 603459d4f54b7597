// SPDX-License-Identifier: Apache-2.0
// Comparison of two tensors: ulp, errors, cosine, NaN and infinities, zeros, types, memory orders, axes.
#include <tests/catch.hpp>

#include "diff/compare.hpp"

#include <cmath>
#include <initializer_list>
#include <limits>
#include <random>

using namespace spotter;

namespace {

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

tensor_errors held(std::vector<float> const& a, std::vector<float> const& b, tolerance const& allowed = {}) {
    return compare(view_of(a.data(), {a.size()}), view_of(b.data(), {b.size()}), allowed).value();
}

std::vector<float> numbers(std::size_t count) {
    std::mt19937 random{7};
    std::normal_distribution<float> normal;
    std::vector<float> values(count);
    for (float& each : values) { each = normal(random); }
    return values;
}

}  // namespace

TEST_CASE("equal tensors: no error, whatever their length") {
    for (std::size_t const count : std::initializer_list<std::size_t>{0, 1, 15, 16, 17, 1023, 1024, 1025, 5000}) {
        std::vector<float> const values = numbers(count);
        tensor_errors const it = held(values, values);
        CHECK(it.elements == count);
        CHECK(it.same());
        CHECK(it.cosine == 1);
        CHECK(it.relative_l2 == 0);
        CHECK(it.worst == no_index);
    }
}

TEST_CASE("one ulp at any place is found there, on every path") {
    for (std::size_t const count : std::initializer_list<std::size_t>{1, 17, 1024, 3000}) {
        for (std::size_t const place : {std::size_t{0}, count / 2, count - 1}) {
            std::vector<float> const a = numbers(count);
            std::vector<float> b = a;
            b[place] = std::nextafter(a[place], infinity);
            tensor_errors const it = held(a, b);
            CHECK(it.differing == 1);
            CHECK(it.outside == 1);
            CHECK(it.ulp == 1);
            CHECK(it.worst == place);
            CHECK(it.worst_a == static_cast<double>(a[place]));
            CHECK(it.worst_b == static_cast<double>(b[place]));
            CHECK(held(a, b, {.ulp = 1}).within());
        }
    }
}

TEST_CASE("errors are those of a plain double loop") {
    std::vector<float> const a = numbers(4321);
    std::vector<float> b = a;
    std::mt19937 random{3};
    for (float& each : b) { each += 1e-3F * static_cast<float>(random() % 100); }
    double gap = 0, square_a = 0, square_b = 0, dot = 0, absolute = 0, relative = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        double const x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
        gap += (x - y) * (x - y), square_a += x * x, square_b += y * y, dot += x * y;
        absolute = std::fmax(absolute, std::fabs(x - y));
        relative = std::fmax(relative, std::fabs(x - y) / std::fmax(std::fabs(x), std::fabs(y)));
    }
    tensor_errors const it = held(a, b);
    CHECK(it.absolute == absolute);
    CHECK(it.relative == relative);
    CHECK(it.relative_l2 == Approx(std::sqrt(gap / square_a)).epsilon(1e-12));
    CHECK(it.cosine == Approx(dot / std::sqrt(square_a * square_b)).epsilon(1e-12));
    tensor_errors const swapped = held(b, a);
    CHECK(swapped.ulp == it.ulp);
    CHECK(swapped.relative_l2 == Approx(std::sqrt(gap / square_b)).epsilon(1e-12));
}

TEST_CASE("a distance in ulps counts across zero and over exponents") {
    float const least = std::numeric_limits<float>::denorm_min();
    CHECK(held({least}, {-least}).ulp == 2);
    CHECK(held({1.0F}, {2.0F}).ulp == 1U << 23U);
    CHECK(held({-1.0F}, {-2.0F}).ulp == 1U << 23U);
    CHECK(held({-std::numeric_limits<float>::max()}, {std::numeric_limits<float>::max()}).ulp == 2ULL * 0x7F7FFFFF);
    double const a[] = {1.0, -4.0}, b[] = {std::nextafter(1.0, 0.0), -4.0};
    CHECK(compare(view_of(a, {2}), view_of(b, {2})).value().ulp == 1);
}

TEST_CASE("NaN is NaN, an infinity is itself, and neither is a number within any tolerance") {
    tolerance const wide{.ulp = 1ULL << 40U, .relative = 10, .absolute = 1e30};
    CHECK(held({nan_value, infinity, -infinity, 1}, {nan_value, infinity, -infinity, 1}).same());
    CHECK(held({-nan_value, 1}, {nan_value, 1}).same());
    tensor_errors const it = held({1, nan_value, infinity, 2, 3}, {1, 5, -infinity, infinity, 4}, wide);
    CHECK(it.nan_mismatches == 1);
    CHECK(it.inf_mismatches == 2);
    CHECK(it.differing == 4);
    CHECK(it.outside == 3);
    CHECK(it.worst == 1);
    CHECK(is_nan(it.worst_a));
    CHECK(it.worst_b == 5);
    CHECK(it.absolute == 1);  // over the elements that are finite on both sides
    CHECK(it.relative_l2 == Approx(1 / std::sqrt(10.0)));
}

TEST_CASE("the sign of a zero is counted, and a difference only where it is asked for") {
    tensor_errors const it = held({0.0F, 1}, {-0.0F, 1});
    CHECK(it.same());
    CHECK(it.within());
    CHECK(it.zero_signs == 1);
    CHECK_FALSE(held({0.0F, 1}, {-0.0F, 1}, {.zero_signs = true}).within());
}

TEST_CASE("a tolerance is kept by ulps, relatively or absolutely, whichever is wider") {
    CHECK(held({1000}, {1001}, {.relative = 1e-3}).within());
    CHECK_FALSE(held({1000}, {1002}, {.relative = 1e-3}).within());
    CHECK(held({1e-9F}, {2e-9F}, {.absolute = 1e-8}).within());
    CHECK_FALSE(held({1e-9F}, {2e-9F}, {.ulp = 3, .relative = 1e-3}).within());
    CHECK(held({1.0F}, {2.0F}, {.ulp = 1U << 23U}).within());
    CHECK(held({0}, {0.5F}).cosine == 0);
    CHECK(held({1, 2}, {-1, -2}).cosine == Approx(-1));
    CHECK(classify(held({0}, {0.5F}).relative_l2) == number_class::pos_inf);
}

TEST_CASE("every type: the same is the same, and a changed element is found") {
    auto const check = [](auto one, auto other, bool has_ulp) {
        decltype(one) const a[] = {one, one, other}, b[] = {one, other, other};
        CHECK(compare(view_of(a, {3}), view_of(a, {3})).value().same());
        tensor_errors const it = compare(view_of(a, {3}), view_of(b, {3})).value();
        CHECK(it.differing == 1);
        CHECK(it.worst == 1);
        CHECK(it.has_ulp == has_ulp);
        if (has_ulp) { CHECK(it.ulp == 1); }
    };
    check(std::int8_t{-3}, std::int8_t{100}, false);
    check(std::int16_t{-3}, std::int16_t{100}, false);
    check(std::int32_t{-3}, std::int32_t{100}, false);
    check(std::int64_t{1} << 60U, (std::int64_t{1} << 60U) + 1, false);  // equal as doubles
    check(std::uint8_t{3}, std::uint8_t{200}, false);
    check(std::uint16_t{3}, std::uint16_t{200}, false);
    check(std::uint32_t{3}, std::uint32_t{4'000'000'000}, false);
    check(~std::uint64_t{0}, ~std::uint64_t{1}, false);
    check(false, true, false);
    check(f16{0x3C00}, f16{0x3C01}, true);
    check(bf16{0xBF80}, bf16{0xBF81}, true);
    check(f8_e4m3{0x38}, f8_e4m3{0x39}, true);
    check(f8_e5m2{0x3C}, f8_e5m2{0x3D}, true);
    check(c64{1, 2}, c64{1, std::nextafter(2.0F, 3.0F)}, true);
    check(c128{1, 2}, c128{std::nextafter(1.0, 2.0), 2}, true);
}

TEST_CASE("two types of floats are compared in ulps of the less precise one") {
    std::vector<double> const exact{1.0 / 3, -2.0 / 7, 1e-40, 0, 123456.789};
    std::vector<float> rounded;
    for (double const each : exact) { rounded.push_back(static_cast<float>(each)); }
    auto const wide = view_of(exact.data(), {5});
    auto const narrow = [&] { return compare(wide, view_of(rounded.data(), {5})).value(); };
    CHECK(narrow().same());
    CHECK(narrow().absolute > 0);
    rounded[1] = std::nextafter(rounded[1], 0.0F);
    CHECK(narrow().ulp == 1);
    CHECK(narrow().worst == 1);
    f16 const half[] = {{0x3555}};  // the nearest f16 to a third
    bf16 const brain[] = {{0x3EAB}};
    CHECK(compare(view_of(half, {1}), view_of(exact.data(), {1})).value().same());
    CHECK(compare(view_of(brain, {1}), view_of(half, {1})).value().same());
    std::int32_t const whole[] = {5};
    float const five[] = {5.0F};
    CHECK(compare(view_of(whole, {1}), view_of(five, {1})).value().same());
}

TEST_CASE("tensors are compared by index, in whatever order they lie in memory") {
    float const rows[] = {1, 2, 3, 4, 5, 6}, columns[] = {1, 4, 2, 5, 3, 6};
    tensor_ref const a = view_of(rows, {2, 3});
    tensor_ref const b = view_of(columns, {2, 3}, order::column_major);
    CHECK(compare(a, b).value().same());
    CHECK(compare(b, a).value().same());
    CHECK(compare(a, with_axes_reversed(with_axes_reversed(b))).value().same());
    float const transposed[] = {1, 4, 2, 5, 3, 6};  // [3, 2]
    CHECK(compare(a, view_of(transposed, {3, 2})).error().code == errc::no_shape);
    CHECK(compare(a, with_axes_reversed(view_of(transposed, {3, 2}))).value().same());
    CHECK(compare(view_of(rows, {1, 6}), view_of(rows, {6})).value().same());
    CHECK(compare(view_of(rows, {2, 3}), view_of(rows, {6})).error().code == errc::no_shape);
}

TEST_CASE("what cannot be compared is a named error") {
    float const number = 1;
    c64 const complex{1, 0};
    CHECK(compare(view_of(&number, {}), view_of(&complex, {})).error().code == errc::wrong_type);
    CHECK(compare(view_of(&number, {}), tensor_ref{}).error().code == errc::no_payload);
}
