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
