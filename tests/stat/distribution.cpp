// SPDX-License-Identifier: Apache-2.0
// Quantiles and histograms, compared with sorted copies, and for hostile values.
#include <spotter/stat/distribution.hpp>

#include <tests/catch.hpp>
#include <tests/stat/samples.hpp>

#include <algorithm>
#include <numeric>

using namespace spotter;
using namespace samples;

namespace {

template <class Value>
distribution taken(std::vector<Value> const& values, stats_mask wanted = distribution_terms) {
    std::vector<std::uint64_t> scratch(values.size());
    return distribution_of(as_tensor(values), wanted, scratch);
}
double at_level(distribution const& of, int thousandths) {
    auto const found = std::find(quantile_levels.begin(), quantile_levels.end(), thousandths);
    return of.quantiles[static_cast<std::size_t>(found - quantile_levels.begin())];
}

constexpr std::array<std::uint64_t, 5> selected() {
    std::array<std::uint64_t, 5> keys{9, 1, 7, 1, 3};
    constexpr std::array<std::size_t, 3> ranks{0, 2, 4};
    detail::select_ranks(keys, 0, ranks);
    return keys;
}
static_assert(selected()[0] == 1 && selected()[2] == 3 && selected()[4] == 9);
static_assert(detail::nearest_rank(500, 4) == 1 && detail::nearest_rank(500, 5) == 2);
static_assert(detail::nearest_rank(100, 30) == 2 && detail::nearest_rank(0, 7) == 0 &&
              detail::nearest_rank(1000, 7) == 6);

}  // namespace

TEST_CASE("quantiles are elements of the sorted values, by nearest rank [A29]") {
    splitmix random{7};
    for (std::size_t const size : {1U, 2U, 3U, 10U, 999U, 1000U, 1001U, 20000U}) {
        std::vector<double> values(size);
        for (double& each : values) { each = std::floor(random.uniform() * 500) - 250; }  // many are equal
        distribution const found = taken(values);
        std::sort(values.begin(), values.end());
        REQUIRE(found.has_quantiles);
        for (std::size_t i = 0; i < quantile_levels.size(); ++i) {
            std::size_t const rank = (quantile_levels[i] * size + 999) / 1000;
            CHECK(found.quantiles[i] == values[rank == 0 ? 0 : rank - 1]);
        }
    }
}

TEST_CASE("hostile orders cost no more: sorted, reversed, all equal, organ pipe") {
    std::vector<float> values(100000);
    std::iota(values.begin(), values.end(), 0.0F);
    CHECK(at_level(taken(values), 500) == 49999);
    std::reverse(values.begin(), values.end());
    CHECK(at_level(taken(values), 990) == 98999);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>((std::min)(i, values.size() - i));
    }
    CHECK(at_level(taken(values), 1000) == 50000);
    values.assign(values.size(), -2.5F);
    CHECK(at_level(taken(values), 1) == -2.5);
}

TEST_CASE("a histogram's bins add up to the finite values; the others are counted apart [S37]") {
    splitmix random{3};
    std::vector<float> values(5000);
    for (float& each : values) { each = static_cast<float>(random.uniform() * 8 - 3); }
    values[10] = nan_f;
    values[11] = pos_infinity_f;
    values[4999] = neg_infinity_f;
    distribution const found = taken(values);
    REQUIRE(found.has_histogram);
    CHECK(std::accumulate(found.bins.begin(), found.bins.end(), std::uint64_t{0}) == 4997);
    CHECK(summarize(as_tensor(values), stats_mask::nonfinite).nonfinite() == 3);
    CHECK((found.low >= -3 && found.high < 5 && found.low < -2.9 && found.high > 4.9));
    double const width = (found.high - found.low) / static_cast<double>(histogram_bins);
    std::uint64_t below = 0, expected = 0;
    for (std::size_t i = 0; i < 20; ++i) { below += found.bins[i]; }
    for (float const each : values) {
        expected += detail::see(each).kind < number_class::pos_inf && each < found.low + 20 * width;
    }
    CHECK(below == expected);
    CHECK(at_level(found, 0) == found.low);
    CHECK(at_level(found, 1000) == found.high);
}

TEST_CASE("of nothing finite there is no distribution") {
    CHECK(!taken(std::vector<double>{}).has_quantiles);
    CHECK(!taken(std::vector<double>{nan_d, pos_infinity}).has_histogram);
    CHECK(!taken(std::vector<double>{1.0}, stats_mask::histogram).has_quantiles);
    CHECK(!taken(std::vector<double>{1.0}, stats_mask::quantiles).has_histogram);
}

TEST_CASE("equal values are one bin, the widest range does not overflow, -0 is 0") {
    distribution const same = taken(std::vector<double>{4, 4, 4});
    CHECK((same.bins[0] == 3 && same.low == 4 && same.high == 4));
    double const most = from_bits(0x7FEFFFFFFFFFFFFFU);
    distribution const wide = taken(std::vector<double>{-most, -1, 1, most});
    CHECK((wide.bins[0] == 1 && wide.bins[31] + wide.bins[32] == 2 && wide.bins[63] == 1));
    distribution const zero = taken(std::vector<double>{-0.0, -0.0});
    CHECK(bits_of(at_level(zero, 500)) == 0);
    CHECK(bits_of(zero.low) == 0);
    distribution const negative = taken(std::vector<std::int8_t>{-128, -1, 127});
    CHECK((at_level(negative, 0) == -128 && at_level(negative, 500) == -1 && at_level(negative, 1000) == 127));
}
