// SPDX-License-Identifier: Apache-2.0
// An inequality is printed with as many digits as it takes to be true.
#include <spotter/rule/inequality.hpp>

#include <tests/catch.hpp>
#include <tests/true_as_printed.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace spotter;

namespace {

std::string shown(double measured, double threshold, relation how = relation::greater) {
    finding it;
    it.measured = measured, it.threshold = threshold, it.how = how;
    std::string line;
    write_inequality(it, [&](std::string_view piece) { line += piece; });
    return line;
}

}  // namespace

TEST_CASE("an inequality has three digits, and more where these would not tell which number is larger") {
    CHECK(shown(0.57912, 0.579) == "0.5791 > 0.579");
    CHECK(shown(0.9000000001, 0.9) == "0.9000000001 > 0.9");
    CHECK(shown(0.1 + 0.2, 0.3) == "0.30000000000000004 > 0.29999999999999999");
    CHECK(shown(0.9, 0.9, relation::greater_equal) == "0.9 >= 0.9");
    CHECK(shown(123456.5, 123456) == "123456.5 > 123456");  // three digits would not show it
    CHECK(shown(1e7 + 1, 1e7) == "10000001 > 10000000");
    CHECK(shown(1.0000001e25, 1e25) == "1.0000001e25 > 1e25");
    CHECK(shown(1.00001e-5, 1e-5) == "1.00001e-5 > 1e-5");
    CHECK(shown(-0.1001, -0.1, relation::less) == "-0.1001 < -0.1");
    CHECK(shown(10, 2.5) == "10 > 2.5");
    CHECK(shown(std::numeric_limits<double>::infinity(), 1e3) == "inf > 1000");
    CHECK(shown(0.57912, 0, relation::none) == "0.579");
}

TEST_CASE("an inequality reads back as the numbers stand to each other, however near they are") {
    std::mt19937_64 random{3};
    std::uniform_real_distribution<double> exponent{-300, 300}, mantissa{-10, 10};
    for (int i = 0; i < 20000; ++i) {
        double const one = mantissa(random) * std::pow(10, exponent(random));
        double other = one;
        for (std::uint64_t away = random() % 4; away > 0; --away) {
            other = std::nextafter(other, mantissa(random) * 1e300);
        }
        if (i % 3 == 0) { other = one * (1 + std::pow(10, -static_cast<double>(random() % 16))); }
        finding it;
        it.rule = "any", it.measure = "loss", it.measured = one, it.threshold = other;
        it.how = one > other ? relation::greater : one < other ? relation::less : relation::less_equal;
        if (!spotter_test::is_true_as_printed(it)) { FAIL(spotter::detail::sentence_of<std::string>(it)); }
    }
}

TEST_CASE("a line with an inequality that is not true is found out") {
    finding it;
    it.rule = "any", it.measure = "loss", it.measured = 0.996, it.threshold = 1.51, it.how = relation::greater_equal;
    CHECK_FALSE(spotter_test::is_true_as_printed(it));
    it.threshold = 0.9;
    CHECK(spotter_test::is_true_as_printed(it));
    CHECK_FALSE(spotter_test::is_true_in("warning: any: loss falls at train(1): loss 0.9 >= 0.91", it));
}
