// SPDX-License-Identifier: Apache-2.0
// Stat: the value of each statistic, by example.
#include <tests/stat/samples.hpp>

#include <tests/catch.hpp>

#include <cmath>

using namespace spotter;
using namespace samples;

namespace {

double value(statistic which, summary const& of) {
    measurement const found = which(of);
    CHECK(found.known);
    return found.value;
}
constexpr statistic with_abs_forms[] = {minimum, maximum, mean, stddev, variance, sum, product};

}  // namespace

TEST_CASE("the eighteen reductions of {-3, -1, 0, 2, 4} [S28]", "[S28][A29]") {
    summary const of = summary_of(std::vector<double>{-3, -1, 0, 2, 4});
    CHECK(value(minimum, of) == -3);
    CHECK(value(maximum, of) == 4);
    CHECK(value(mean, of) == Approx(0.4));
    CHECK(value(variance, of) == Approx(5.84));
    CHECK(value(stddev, of) == Approx(2.416609));
    CHECK(value(sum, of) == 2);
    CHECK(value(product, of) == 0);
    CHECK(value(l1, of) == 10);
    CHECK(value(l2, of) == Approx(5.477225575051661));
    CHECK(value(zero_fraction, of) == Approx(0.2));
    CHECK(value(of_abs(minimum), of) == 0);
    CHECK(value(of_abs(maximum), of) == 4);
    CHECK(value(of_abs(mean), of) == 2);
    CHECK(value(of_abs(variance), of) == Approx(2.0));
    CHECK(value(of_abs(stddev), of) == Approx(1.41421356));
    CHECK(value(of_abs(sum), of) == 10);
    CHECK(value(of_abs(product), of) == 0);
    CHECK(value(zeros, of) == 1);
    CHECK(value(nonfinite, of) == 0);
}

TEST_CASE("{NaN, 1, 2}: the NaN is counted and the rest is judged [S35] [A31]", "[S35][A31]") {
    summary const wide = summary_of(std::vector<double>{nan_d, 1, 2});
    summary const narrow = summary_of(std::vector<float>{nan_f, 1, 2});
    for (summary const& of : {wide, narrow}) {
        CHECK((of.nan == 1 && of.first_bad == 0 && of.finite() == 2));
        CHECK(value(nan_count, of) == 1);
        CHECK(value(minimum, of) == 1);
        CHECK(value(maximum, of) == 2);
        CHECK(value(mean, of) == 1.5);
        CHECK(value(variance, of) == 0.25);
        CHECK(value(l2, of) == Approx(2.2360679775));
        CHECK(value(zero_fraction, of) == 0);
    }
}

TEST_CASE("infinities are distinguished, and the index of the first bad element is kept") {
    summary const of = summary_of(std::vector<float>{1, pos_infinity_f, neg_infinity_f, nan_f, neg_infinity_f});
    CHECK((of.nan == 1 && of.pos_inf == 1 && of.neg_inf == 2 && of.first_bad == 1));
    CHECK(value(pos_inf, of) == 1);
    CHECK(value(neg_inf, of) == 2);
    CHECK(value(nonfinite, of) == 4);
    CHECK(value(mean, of) == 1);
    std::vector<float> many(3000, 1.0F);
    many[2500] = nan_f;
    CHECK(summary_of(many, stats_mask::nonfinite).first_bad == 2500);
}

TEST_CASE("an empty tensor has sum 0 and product 1, and no mean [S36]", "[S36]") {
    float const* const nowhere = nullptr;
    summary const of = summarize(view_of(nowhere, {0, 4}), all_terms);
    CHECK((value(sum, of) == 0 && value(product, of) == 1 && value(l1, of) == 0 && value(l2, of) == 0 &&
           value(nonfinite, of) == 0));
    for (statistic each :
         std::initializer_list<statistic>{mean, minimum, maximum, variance, stddev, zero_fraction, mean_abs}) {
        CHECK_FALSE(each(of).known);
    }
}

TEST_CASE("a tensor without a finite element has counts, and no mean [A31]", "[A31]") {
    summary const of = summary_of(std::vector<double>(40, nan_d));
    CHECK((value(nan_count, of) == 40 && value(sum, of) == 0 && value(product, of) == 1 && value(zeros, of) == 0));
    for (statistic each : std::initializer_list<statistic>{mean, minimum, maximum, variance, stddev, mean_abs,
                                                           of_abs(maximum), zero_fraction}) {
        CHECK_FALSE(each(of).known);
    }
}

TEST_CASE("i64 labels have every statistic, and nothing overflows [S34] [D02]", "[S34][D02]") {
    summary const labels = summary_of(std::vector<std::int64_t>{3, 0, 9, 9, 1});
    for (statistic each : with_abs_forms) { CHECK((each(labels).known && of_abs(each)(labels).known)); }
    CHECK((value(mean, labels) == Approx(4.4) && value(maximum, labels) == 9 && value(zeros, labels) == 1));
    summary const bytes = summary_of(std::vector<std::int8_t>{-1, -128, 127});
    CHECK((value(minimum, bytes) == -128 && value(of_abs(maximum), bytes) == 128 && value(sum, bytes) == -2));
    auto const lowest = std::int64_t{-9223372036854775807} - 1;
    CHECK(value(of_abs(maximum), summary_of(std::vector<std::int64_t>{lowest, 1})) == 0x1p63);
    CHECK(value(sum, summary_of(std::vector<std::uint64_t>{~std::uint64_t{0}, 0})) == 0x1p64);
    CHECK(value(sum, summary_of(std::vector<std::uint8_t>(2000, 255))) == 510000);
}

TEST_CASE("l2 is the vector norm whatever the rank [S38]", "[S38]") {
    std::vector<float> values(48);
    double squares = 0;
    for (std::size_t i = 0; i < 48; ++i) {
        values[i] = static_cast<float>(i) - 20;
        squares += static_cast<double>(values[i]) * static_cast<double>(values[i]);
    }
    for (extents const& shape : {extents{48}, extents{2, 4, 6}, extents{2, 2, 3, 4}}) {
        CHECK(value(l2, summarize(view_of(values.data(), shape), stats_mask::sum_squares)) ==
              Approx(std::sqrt(squares)).epsilon(1e-15));
    }
}

TEST_CASE("a complex number counts by its size, and is bad if one half is") {
    c64 const bad{0, nan_f};
    summary const of = summary_of(std::vector<c64>{{3, 4}, {0, 0}, bad, {0, -5}});
    CHECK((of.nan == 1 && of.first_bad == 2 && of.zeros == 1));
    CHECK((value(l1, of) == 10 && value(of_abs(maximum), of) == 5 && value(of_abs(minimum), of) == 0 &&
           value(sum, of) == 3));
    CHECK(value(l2, of) == Approx(7.0710678118654755));
}

TEST_CASE("the sign of a zero shows nowhere") {
    summary const of = summary_of(std::vector<float>{-0.0F, 0.0F});
    CHECK((of.zeros == 2 && bits_of(of.minimum) == 0 && bits_of(of.maximum) == 0 && bits_of(of.sum) == 0));
    CHECK(bits_of(summary_of(std::vector<float>(64, -0.0F)).maximum) == 0);
}

TEST_CASE("f16, bf16 and f8 are widened before any arithmetic [D03]", "[D03]") {
    CHECK(value(sum, summary_of(std::vector<f16>(100, f16{0x7BFF}))) == 6550400);
    CHECK(value(mean, summary_of(std::vector<bf16>{{0x3F80}, {0x4040}})) == 2);
    summary const of = summary_of(std::vector<f8_e4m3>{{0x7E}, {0x7F}, {0x80}});
    CHECK((value(maximum, of) == 448 && of.nan == 1 && of.zeros == 1));
    CHECK(summary_of(std::vector<f8_e5m2>{{0x7C}, {0xFC}, {0x7D}}).nonfinite() == 3);
}

TEST_CASE("a summary holds what was asked for, and the non-finite counts with any of it") {
    std::vector<float> const values{1, nan_f};
    CHECK(summary_of(values, stats_mask::none).has == stats_mask::none);
    CHECK(summary_of(values, stats_mask::payload | stats_mask::change).has == stats_mask::none);
    summary const hashed = summary_of(values, stats_mask::hash);
    CHECK((hashed.has == (stats_mask::hash | stats_mask::nonfinite) && hashed.nan == 1));
    CHECK(summary_of(values, stats_mask::variance).has ==
          (stats_mask::variance | stats_mask::sum | stats_mask::nonfinite));
    CHECK_FALSE(l2(summary_of(values, stats_mask::sum)).known);
    CHECK_FALSE(variance(summary_of(values, stats_mask::sum)).known);
    CHECK(summarize(view_of(static_cast<float const*>(nullptr), {3}), all_terms).has == stats_mask::none);  // refused
    CHECK(stats(l2, of_abs(maximum)) == (stats_mask::sum_squares | stats_mask::abs_range | stats_mask::nonfinite));
    CHECK((stats(mean) | payload) == (stats_mask::sum | stats_mask::nonfinite | stats_mask::payload));
}

TEST_CASE("a hash tells bits apart") {
    std::vector<float> a(100, 1.0F), b = a;
    CHECK(summary_of(a, stats_mask::hash).hash == summary_of(b, stats_mask::hash).hash);
    for (std::size_t i = 0; i < b.size(); ++i) {
        b[i] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(b[i]) ^ 1U);
        CHECK(summary_of(a, stats_mask::hash).hash != summary_of(b, stats_mask::hash).hash);
        b[i] = 1.0F;
    }
    CHECK(summary_of(std::vector<float>{0.0F}, stats_mask::hash).hash !=
          summary_of(std::vector<float>{-0.0F}, stats_mask::hash).hash);
    CHECK(summary_of(std::vector<float>(3), stats_mask::hash).hash !=
          summary_of(std::vector<float>(4), stats_mask::hash).hash);
}

TEST_CASE("a summary is made in a constant expression") {
    static constexpr std::array<float, 20> values{1, 2, 3, 4, -10};
    constexpr summary of = summarize(as_tensor(values), all_terms);
    static_assert(sum(of).value == 0 && l1(of).value == 20 && maximum(of).value == 4 && zeros(of).value == 15 &&
                  !has(of.has, stats_mask::hash));
    static_assert(variance(of).value == 6.5 && l2(of).value > 11.40175 && l2(of).value < 11.40176);
    CHECK(same_bits(of, summarize(as_tensor(values), without(all_terms, stats_mask::hash))));
}
