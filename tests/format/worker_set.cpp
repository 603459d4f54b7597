// SPDX-License-Identifier: Apache-2.0
// The directory of many workers' sidecars: its content is read back, and a damaged one has no workers.
#include <spotter/format/worker_set.hpp>

#include <tests/catch.hpp>

#include <string>
#include <vector>

using namespace spotter;

namespace {

std::vector<std::byte> small_set() {
    worker_set_writer out;
    REQUIRE(out.add(set_worker{0, 1, 3, 2, 12.5}));
    REQUIRE(out.add(set_segment{0, 1000, 0, 5}));
    REQUIRE(out.add(set_segment{1, 500, 0, 3}));
    REQUIRE(out.add(set_worker{7, 0, 3, 1, 13.5}));
    REQUIRE(out.add(set_segment{4, std::uint64_t{1} << 40, 0, 2}));
    byte_buffer made{};
    REQUIRE(out.seal(made));
    std::vector<std::byte> bytes{made.view().begin(), made.view().end()};
    for (char const each : {'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'}) { bytes.push_back(std::byte(each)); }
    return bytes;
}

}  // namespace

TEST_CASE("a set of sidecars gives its workers, their segments and where each sidecar is") {
    std::vector<std::byte> const bytes = small_set();
    CHECK(bytes.size() == 16 + 2 * 24 + 3 * 24 + 8 + 10);
    worker_set_reader in{bytes};
    set_worker who;
    set_segment each;
    auto const side = [&] {
        byte_view const its = in.side_of(each);
        return std::string{reinterpret_cast<char const*>(its.data()), its.size()};
    };
    REQUIRE(in.next(who));
    CHECK((who.number == 0 && who.how == 1 && who.expected_workers == 3 && who.segments == 2));
    REQUIRE(in.next(each));
    CHECK((each.number == 0 && each.bytes == 1000 && side() == "abcde"));
    REQUIRE(in.next(each));
    CHECK((each.number == 1 && each.bytes == 500 && side() == "fgh"));
    REQUIRE(in.next(who));
    CHECK((who.number == 7 && who.how == 0 && who.segments == 1));
    REQUIRE(in.next(each));
    CHECK((each.number == 4 && each.bytes == std::uint64_t{1} << 40 && side() == "ij"));
    CHECK_FALSE(in.next(who));
}

TEST_CASE(
    "a set with one wrong bit in its directory, or cut within it, has no workers; one cut behind it lacks sidecars") {
    std::vector<std::byte> const bytes = small_set();
    set_worker who;
    set_segment each;
    std::size_t const directory = bytes.size() - 10;
    for (std::size_t bit = 0; bit < directory * 8; ++bit) {
        std::vector<std::byte> wrong = bytes;
        wrong[bit / 8] ^= std::byte(1U << (bit % 8));
        INFO(bit);
        CHECK_FALSE(worker_set_reader{wrong}.next(who));
    }
    for (std::size_t size = 0; size < directory; ++size) {
        CHECK_FALSE(worker_set_reader{byte_view{bytes}.first(size)}.next(who));
    }
    worker_set_reader in{byte_view{bytes}.first(directory + 4)};
    REQUIRE(in.next(who));
    REQUIRE(in.next(each));
    CHECK(in.side_of(each).empty());
}
