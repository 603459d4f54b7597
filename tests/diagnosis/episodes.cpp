// SPDX-License-Identifier: Apache-2.0
// What was found, from its first close to its last.
#include <spotter/diagnosis/episodes.hpp>

#include <tests/catch.hpp>

#include <iterator>

using namespace spotter;
using detail::episode;
using detail::episodes;

namespace {

finding found(std::string_view rule, std::string_view reason = {}, double measured = 0) {
    finding it;
    it.rule = rule, it.reason = reason, it.measured = measured;
    return it;
}

}  // namespace

TEST_CASE("an episode begins with what is found and keeps what was found last") {
    episodes all;
    CHECK(all.note(0, found("a"), 1) == nullptr);  // no room was made
    REQUIRE(all.reserve());
    episode const* const it = all.note(0, found("a", "one", 1), 3);
    REQUIRE(it != nullptr);
    CHECK(all.note(0, found("a", "one", 2), 5) == it);
    CHECK((it->holds() && it->first == 3 && it->ever_first == 3 && it->last == 5 && it->latest.measured == 2));
    CHECK(all.note(0, found("a", "two"), 5) != it);  // another condition of the rule
    CHECK(all.note(1, found("a", "one"), 5) != it);  // another rule of that name
    CHECK(std::distance(all.begin(), all.end()) == 3);
}

TEST_CASE(
    "an episode ends where it was not found ten times and for a hundred closes, and only then is it reported again") {
    episodes all;
    REQUIRE(all.reserve());
    episode* const often = all.note(0, found("often"), 1);
    episode* const seldom = all.note(1, found("seldom"), 1);
    REQUIRE((often != nullptr && seldom != nullptr));
    often->noted = often->alarmed = seldom->noted = true;
    for (std::uint64_t close = 2; close <= 100; ++close) {
        all.decided(0, close);
        if (close % 20 == 0) { all.decided(1, close); }
        REQUIRE((often->holds() && often->alarmed && seldom->holds()));
    }
    all.decided(0, 101);
    CHECK_FALSE((often->holds() || often->noted || often->alarmed));
    for (std::uint64_t close = 120; close < 200; close += 20) { all.decided(1, close); }
    CHECK((seldom->holds() && seldom->noted));  // decided nine times
    all.decided(1, 200);
    CHECK_FALSE(seldom->holds());
    all.note(0, found("often"), 300);
    CHECK((often->first == 300 && often->ever_first == 1 && !often->noted));
}

TEST_CASE("what is found again before the end goes on, and its end is counted anew") {
    episodes all;
    REQUIRE(all.reserve());
    episode* const it = all.note(0, found("a"), 1);
    for (std::uint64_t close = 2; close <= 1000; ++close) {
        if (close % 50 == 0) { all.note(0, found("a"), close); }
        all.decided(0, close);
        REQUIRE((it->holds() && it->first == 1));
    }
}

TEST_CASE("what is looked for is found by its rule, its condition and whether it goes on, whatever it is called") {
    episodes all;
    REQUIRE(all.reserve());
    auto const reported = [](std::uint8_t condition, double measured) {
        finding it = found("of mine", condition == 1 ? "the first" : "the second", measured);
        it.id = rule_id::dead_update_path, it.condition = condition;
        return it;
    };
    all.note(0, reported(1, 1), 3);
    all.note(0, reported(2, 2), 7);
    constexpr rule_id rule = rule_id::dead_update_path;
    REQUIRE(all.find(rule) != nullptr);
    CHECK(all.find(rule)->latest.measured == 2);  // the latest
    REQUIRE(all.find(rule, 1) != nullptr);
    CHECK(all.find(rule, 1)->latest.measured == 1);
    CHECK(all.find(rule, 3) == nullptr);
    CHECK(all.find(rule_id::dead_relu) == nullptr);
    for (std::uint64_t close = 8; close <= 106; ++close) { all.decided(0, close); }
    CHECK(all.find(rule, 1) == nullptr);  // it has ended
    REQUIRE(all.find(rule) != nullptr);
    all.decided(0, 107);
    CHECK(all.find(rule) == nullptr);
}

TEST_CASE("a testimony stands until the same rule gives another, however often it has decided since") {
    episodes all;
    REQUIRE(all.reserve());
    auto const said = [](std::uint8_t condition, std::string_view reason) {
        finding it = found("climbs", reason);
        it.id = rule_id::update_direction, it.condition = condition;
        return it;
    };
    all.hear(0, said(2, "most"), 1);
    for (std::uint64_t close = 2; close <= 500; ++close) { all.decided(0, close); }
    REQUIRE(all.find(rule_id::update_direction, 2) != nullptr);
    CHECK(all.find(rule_id::update_direction, 2)->quiet);
    all.hear(0, said(3, "some"), 501);
    CHECK(all.find(rule_id::update_direction, 2) == nullptr);
    CHECK(all.find(rule_id::update_direction, 3) != nullptr);
    all.hear(1, said(2, "most"), 502);  // of another
    CHECK(all.find(rule_id::update_direction, 3) != nullptr);
}

TEST_CASE("where there is no room for one more condition those that are there stay") {
    episodes all;
    REQUIRE(all.reserve());
    for (std::size_t i = 0; i < episodes::most; ++i) { REQUIRE(all.note(i, found("a"), 1) != nullptr); }
    CHECK(all.note(episodes::most, found("a"), 2) == nullptr);
    CHECK(all.note(0, found("a"), 2)->last == 2);
}
