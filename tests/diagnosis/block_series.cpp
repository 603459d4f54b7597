// SPDX-License-Identifier: Apache-2.0
// A series in blocks: its means, what is put together once there are too many, and what its halves are compared by.
#include <spotter/diagnosis/block_series.hpp>

#include <tests/catch.hpp>

#include <vector>

using namespace spotter;
using detail::block_series;

namespace {

constexpr block_series counted(std::uint64_t samples) {
    block_series all;
    for (std::uint64_t i = 0; i < samples; ++i) { all.add(static_cast<double>(i)); }
    return all;
}
static_assert(counted(3).size() == 3);
// Two blocks are left over: they lie between the first third and the middle.
constexpr bool has_thirds(block_series const& all, double middle, double last) {
    return all.third() == 6 && all.first_third().size() == 6 && all.first_third()[0] == 0 &&
           all.first_sixth().size() == 3 && all.middle_third().size() == 6 && all.middle_third()[0] == middle &&
           all.last_third().size() == 6 && all.last_third()[0] == last && all.last_two_thirds().size() == 12;
}
static_assert(has_thirds(counted(18), 6, 12) && has_thirds(counted(20), 8, 14));
static_assert(counted(2).first_third().empty() && counted(2).last_third().empty());

}  // namespace

TEST_CASE("a block is a sample until there are too many, and twice as long each time there are") {
    block_series all;
    CHECK((all.size() == 0 && all.samples() == 0 && all.block_length() == 1));
    for (std::uint64_t i = 0; i < 95; ++i) { CHECK(all.add(static_cast<double>(i))); }
    CHECK((all.size() == 95 && all.block_length() == 1));
    CHECK(all.add(95));
    CHECK((all.size() == 48 && all.block_length() == 2 && all.samples() == 96));
    CHECK_FALSE(all.add(96));  // half a block
    CHECK(all.samples() == 96);
    CHECK(all.add(97));
    CHECK(all.blocks()[48] == 96.5);
    for (std::uint64_t i = 98; i < 100'000; ++i) {
        all.add(static_cast<double>(i));
        REQUIRE((all.size() >= 48 && all.size() < block_series::most));
    }
    CHECK((all.block_length() == 2048 && all.samples() == 98'304));
}

TEST_CASE("each block is the mean of its samples, in their order, and none is left out") {
    block_series const all = counted(4096);
    std::uint64_t const length = all.block_length();
    REQUIRE(all.samples() == 4096);
    double sum = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        CHECK(all.blocks()[i] == static_cast<double>(i * length) + static_cast<double>(length - 1) / 2);
        sum += all.blocks()[i];
    }
    CHECK(sum / static_cast<double>(all.size()) == 4095.0 / 2);
    CHECK((all.first(2)[1] == all.blocks()[1] && all.last(1)[0] == all.blocks().back()));
}

TEST_CASE("a share below is a half of equals, all or nothing of what is apart, and nothing said of nothing") {
    std::vector<double> const low{1, 2, 3}, high{4, 5}, none;
    CHECK((detail::share_below(low, high) == 1 && detail::share_below(high, low) == 0));
    CHECK((detail::share_below(low, low) == 0.5 && detail::share_below(low, none) == 0.5));
    CHECK(detail::share_below(std::vector<double>{1, 5}, std::vector<double>{3, 5}) == 0.625);
}

TEST_CASE("the middle of few values") {
    CHECK(detail::middle_of(std::vector<double>{5, 1, 3}) == 3);
    CHECK(detail::middle_of(std::vector<double>{4, 1, 3, 2}) == 3);  // the upper of two
    CHECK(detail::middle_of(std::vector<double>{}) == 0);
}
