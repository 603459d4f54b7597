// SPDX-License-Identifier: Apache-2.0
// Rows of times: they are read back exactly or in their sum, and random bytes do no harm.
#include <tests/catch.hpp>

#include <spotter/format/step_times.hpp>

#include <algorithm>
#include <vector>

using namespace spotter;

namespace {

std::vector<std::byte> packed_times(std::vector<step_time> const& steps) {
    times_packer packer;
    for (step_time const& each : steps) {
        REQUIRE(packer.takes(each));
        REQUIRE(packer.add(each));
        REQUIRE(packer.size() > 0);
    }
    std::size_t const bound = packer.size();
    byte_view const body = packer.seal();
    REQUIRE(!body.empty());
    CHECK(body.size() <= bound);
    return {body.begin(), body.end()};
}

std::vector<step_time> read_times(byte_view body, bool& bad) {
    times_reader reader{body};
    std::vector<step_time> found;
    for (step_time each; reader.next(each);) { found.push_back(each); }
    bad = reader.bad();
    return found;
}

std::vector<step_time> made_steps(std::size_t count, std::uint64_t from, std::uint64_t wait, std::uint64_t length) {
    std::vector<step_time> steps;
    std::uint64_t now = from;
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t const begun = now + (i == 0 ? 0 : wait + i % 7);
        now = begun + length + i % 5;
        steps.push_back({100 + i, begun, now});
    }
    return steps;
}

}  // namespace

TEST_CASE("steps of 10 microseconds and more come back to the nanosecond") {
    auto const steps = made_steps(300, 1'795'000'000'123'456'789U, 20'000, 5'000'000);
    bool bad = false;
    auto const found = read_times(packed_times(steps), bad);
    CHECK(!bad);
    REQUIRE(found.size() == steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
        CHECK(found[i].ordinal == steps[i].ordinal);
        CHECK(found[i].begun == steps[i].begun);
        CHECK(found[i].closed == steps[i].closed);
    }
}

TEST_CASE("shorter ones share their time: each within 10 microseconds, all of them exact, in a few bytes") {
    auto const steps = made_steps(50'000, 5'000'000, 40, 60);
    auto const body = packed_times(steps);
    CHECK(body.size() < 40);
    bool bad = false;
    auto const found = read_times(body, bad);
    CHECK(!bad);
    REQUIRE(found.size() == steps.size());
    CHECK(found.front().begun - steps.front().begun < layout::short_step_nanoseconds);
    CHECK(found.back().closed == steps.back().closed);
    std::uint64_t before = steps.front().begun;
    bool short_ones = true, in_order = true;
    for (step_time const& each : found) {
        in_order = in_order && each.begun >= before && each.closed >= each.begun;
        short_ones = short_ones && each.closed - before < layout::short_step_nanoseconds;
        before = each.closed;
    }
    CHECK(in_order);
    CHECK(short_ones);
}

TEST_CASE("a long step among short ones keeps its time, and bounds theirs") {
    std::vector<step_time> steps = made_steps(40, 1'000, 100, 300);
    for (std::size_t i = 20; i < 40; ++i) {
        steps[i].begun += i == 20 ? 0U : 7'000'000U, steps[i].closed += 7'000'000U;
    }
    bool bad = false;
    auto const found = read_times(packed_times(steps), bad);
    CHECK(!bad);
    REQUIRE(found.size() == 40);
    CHECK(found[19].closed == steps[19].closed);
    CHECK(found[20].begun == steps[20].begun);
    CHECK(found[20].closed == steps[20].closed);
    CHECK(found[39].closed == steps[39].closed);
}

TEST_CASE("what does not follow, goes back or is no time is not taken") {
    times_packer packer;
    CHECK(!packer.takes({0, 10, 9}));
    CHECK(!packer.takes({0, 10, layout::timed_limit}));
    REQUIRE(packer.add({7, 1'000, 2'000}));
    CHECK(packer.takes({8, 2'000, 2'000}));
    CHECK(!packer.takes({8, 1'999, 3'000}));
    CHECK(!packer.takes({9, 2'000, 3'000}));
    packer.reset();
    CHECK(packer.empty());
    CHECK(packer.size() == 0);
    CHECK(packer.takes({3, 5, 6}));
}

TEST_CASE("a row of times that is cut, or of which any byte is another, is read no further than it goes") {
    std::vector<step_time> steps = made_steps(12, 1'795'000'000'123'456'789U, 20'000, 1'000'000);
    for (step_time const& each : made_steps(9, steps.back().closed, 50, 70)) {
        steps.push_back({steps.back().ordinal + 1, each.begun, each.closed});
    }
    auto const body = packed_times(steps);
    bool bad = false;
    for (std::size_t size = 0; size < body.size(); ++size) {
        auto const found = read_times(byte_view{body}.first(size), bad);
        CHECK(found.size() < steps.size());
        CHECK(bad);
    }
    for (std::size_t at = 0; at < body.size(); ++at) {
        for (unsigned value = 0; value < 256; ++value) {
            auto odd = body;
            odd[at] = static_cast<std::byte>(value);
            auto const found = read_times(odd, bad);
            CHECK(found.size() <= layout::timed_steps_limit);
            bool const in_order = std::is_sorted(
                found.begin(), found.end(), [](step_time const& a, step_time const& b) { return a.closed < b.closed; });
            CHECK(in_order);
        }
    }
}
