// SPDX-License-Identifier: Apache-2.0
// Stat: every moment agrees with a two-pass long double reference.
#include <tests/stat/samples.hpp>

#include <tests/catch.hpp>

#include <cmath>

using namespace spotter;
using namespace samples;

namespace {

struct reference {
    long double mean = 0, mean_abs = 0, variance = 0, variance_abs = 0, l2 = 0;
};
template <class Value>
reference two_pass(std::vector<Value> const& values) {
    reference out;
    auto const n = static_cast<long double>(values.size());
    for (Value each : values) {
        out.mean += static_cast<long double>(each), out.mean_abs += std::fabs(static_cast<long double>(each));
    }
    out.mean /= n, out.mean_abs /= n;
    for (Value each : values) {
        long double const x = static_cast<long double>(each);
        out.variance += (x - out.mean) * (x - out.mean) / n;
        out.variance_abs += (std::fabs(x) - out.mean_abs) * (std::fabs(x) - out.mean_abs) / n;
        out.l2 += x * x;
    }
    out.l2 = std::sqrt(out.l2);
    return out;
}
template <class Value>
void check_against_two_passes(std::vector<Value> const& values) {
    summary const of = summary_of(values);
    reference const wanted = two_pass(values);
    auto const near = [](measurement const& got, long double expected) {
        CHECK(got.known);
        CHECK(std::fabs(static_cast<long double>(got.value) - expected) <= 1e-6L * std::fabs(expected));
    };
    near(mean(of), wanted.mean);
    near(mean_abs(of), wanted.mean_abs);
    near(variance(of), wanted.variance);
    near(stddev(of), std::sqrt(wanted.variance));
    near(of_abs(variance)(of), wanted.variance_abs);
    near(l2(of), wanted.l2);
}
template <class Value>
std::vector<Value> normal_like(std::size_t count, double centre, double spread, std::uint64_t seed) {
    splitmix random{seed};
    std::vector<Value> out(count);
    for (Value& each : out) {
        double total = -6;
        for (int i = 0; i < 12; ++i) { total += random.uniform(); }
        each = static_cast<Value>(centre + spread * total);
    }
    return out;
}

}  // namespace

TEST_CASE("moments are within 1e-6 of a two-pass reference, also where the mean is large against the spread [A30]",
          "[A30]") {
    std::uint64_t seed = 1;
    for (std::size_t count : {2U, 15U, 16U, 1000U, 1024U, 1040U, 5001U, 100000U}) {
        for (double centre : {0.5, -3.0, 1e3, 1e6, -1e6}) {
            INFO(count << " elements around " << centre);
            check_against_two_passes(normal_like<double>(count, centre, 1.0, ++seed));
            check_against_two_passes(normal_like<float>(count, centre, 1.0, ++seed));
        }
    }
    check_against_two_passes(normal_like<std::int32_t>(5000, 1e6, 100, 7));
    check_against_two_passes(normal_like<double>(5000, 0.5, 1e-3, 8));
    check_against_two_passes(normal_like<float>(5000, 1e-30, 1e-31, 9));
}

TEST_CASE("a constant tensor has variance zero") {
    for (double value : {0.1, 1e6, -3.7e-5}) {
        summary const of = summary_of(std::vector<double>(3000, value));
        CHECK(variance(of).value <= 1e-25 * value * value);
        CHECK(mean(of).value == Approx(value).epsilon(1e-12));
    }
}

namespace {

constexpr long double unit = 0x1p-53L;  // the relative error of one rounding

// The most additions that an element takes part in: in its block's lane, in the tensor's lane, and in the fold.
long double additions(std::size_t count) {
    return static_cast<long double>(block_size / lane_count + (count + block_size - 1) / block_size + 4);
}
long double relative_error(double got, long double wanted) {
    return std::fabs(static_cast<long double>(got) - wanted) / std::fabs(wanted);
}

}  // namespace

TEST_CASE("a sum of ten million elements errs by the roundings of its lane, not by one for each element [A30]",
          "[A30]") {
    splitmix random{3};
    std::vector<float> values(10'000'000);
    long double total = 0, squares = 0;
    for (float& each : values) {
        each = static_cast<float>(random.uniform());
        total += static_cast<long double>(each);
        squares += static_cast<long double>(each) * static_cast<long double>(each);
    }
    summary const of = summary_of(values, stats_mask::sum | stats_mask::sum_abs | stats_mask::sum_squares);
    long double const bound = additions(values.size()) * unit;  // 1.1e-12; one after another it would be 1.1e-9
    CHECK(bound < 1.2e-12L);
    CHECK(relative_error(of.sum, total) <= bound);
    CHECK(relative_error(of.sum_abs, total) <= bound);
    CHECK(relative_error(of.sum_squares, squares) <= bound);
}

TEST_CASE("a variance far below the square of the mean keeps its digits [A30]", "[A30]") {
    // (mean / deviation)^2 is 1e18 and 1e8: a difference of sums would lose that much of 2^53.
    std::vector<double> const wide = normal_like<double>(100'000, 1e6, 1e-3, 21);
    std::vector<float> const narrow = normal_like<float>(100'000, 1e4, 1, 22);
    summary const of_wide = summary_of(wide);
    summary const of_narrow = summary_of(narrow);
    long double const bound = additions(wide.size()) * unit;
    CHECK(relative_error(mean(of_wide).value, two_pass(wide).mean) <= bound);
    CHECK(relative_error(mean(of_narrow).value, two_pass(narrow).mean) <= bound);
    CHECK(relative_error(variance(of_wide).value, two_pass(wide).variance) <= 1e-8L);
    CHECK(relative_error(variance(of_narrow).value, two_pass(narrow).variance) <= 1e-12L);
}

TEMPLATE_TEST_CASE(
    "the norms of tiny and huge values neither underflow nor overflow where a double holds their squares [A30]",
    "[A30]", float, double) {
    bool const single = sizeof(TestType) == 4;
    for (double const size : {single ? 1.2e-38 : 1e-140, single ? 3e38 : 1e150}) {
        std::vector<TestType> values(5000);
        splitmix random{4};
        for (TestType& each : values) { each = static_cast<TestType>(size * (1 + random.uniform() * 0.1)); }
        reference const wanted = two_pass(values);
        summary const of = summary_of(values, stats_mask::sum_abs | stats_mask::sum_squares | stats_mask::variance);
        long double const bound = additions(values.size()) * unit;
        CHECK(relative_error(l2(of).value, wanted.l2) <= bound);
        CHECK(relative_error(mean_abs(of).value, wanted.mean_abs) <= bound);
        CHECK(relative_error(stddev(of).value, std::sqrt(wanted.variance)) <= 1e-12L);
    }
}

TEST_CASE("single-precision subnormals count in every sum, also where a program flushes them to zero") {
    std::vector<float> values(3000);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = std::bit_cast<float>(static_cast<std::uint32_t>(i + 1));  // (i + 1) * 2^-149
    }
    summary const of = summary_of(values, stats_mask::sum | stats_mask::sum_squares);
    CHECK(of.sum == 3000.0 * 3001 / 2 * 0x1p-149);
    CHECK(of.sum_squares == 3000.0 * 3001 * 6001 / 6 * 0x1p-298);
}
