// SPDX-License-Identifier: Apache-2.0
// The skeleton of rules that judge observations one by one, with rules of a test's own.
#include <tests/rule/stage.hpp>

#include <tests/catch.hpp>

using namespace spotter;
using namespace stage;

namespace {

// All that a rule has to say: what it needs, judges and tells.
struct too_large {
    using kind = rule_kind;
    static constexpr std::string_view name = "too_large";
    selector select = "x*";
    double limit = 1;

    static constexpr stats_mask watched = stats_mask::range;
    [[nodiscard]] constexpr judged_value judge(observation const& it) const noexcept {
        measurement const most = maximum(it.stats);
        return {most, most.value > limit};
    }
    [[nodiscard]] constexpr finding tell(violation const& who) const noexcept {
        return who.as_finding("values are large", "maximum", relation::greater, limit);
    }
};

// All that it may say.
struct with_everything {
    using kind = rule_kind;
    static constexpr std::string_view name = "with_everything", not_finite = "not a number";
    static constexpr mode judged_in = mode::train;
    static constexpr bool softens = true;
    selector select = "x*";
    std::uint64_t patience = 2;

    struct kept : once_a_step {
        std::uint64_t steps = 0;
    };
    struct scratch {
        slot_array<double> room;
    };
    struct large : judged_value {
        std::uint64_t steps = 0;
        std::uint32_t further = 0;
        constexpr void join(large const&) noexcept { ++further; }
        [[nodiscard]] constexpr bool needs_majority() const noexcept { return true; }
    };
    static constexpr stats_mask watched = stats_mask::range | stats_mask::nonfinite;
    [[nodiscard]] constexpr bool prepare(kept&, scratch& own, tensor_info const& tensor) const noexcept {
        return own.room.grow(tensor.id + std::size_t{4});
    }
    [[nodiscard]] constexpr large judge(kept& mine, scratch& own, observation const& it) const noexcept {
        mine.steps += mine.first() ? 1 : 0;
        measurement const most = maximum(it.stats);
        return {judged_value{most, most.value > 1 && own.room.size() >= 4}, mine.steps};
    }
    [[nodiscard]] constexpr finding tell(violation const& who, large const& first) const noexcept {
        finding it = who.as_finding("large", "maximum", relation::greater, 1);
        it.detail << first.steps << " steps, " << first.further << " more";
        return it;
    }
    [[nodiscard]] constexpr std::string_view silence() const noexcept { return "no maximum"; }
};

static_assert(judging_rule<too_large> && judging_rule<with_everything> && !judging_rule<non_finite>);
static_assert(leaf_rule<judged_rule<too_large>> && !extracting_rule<judged_rule<too_large>>);
static_assert(runs(too_large{.limit = 5}, "x"));
static_assert(std::is_aggregate_v<too_large> && std::is_aggregate_v<all_zero>);

}  // namespace

TEST_CASE("a judging rule blames the first tensor, decides by what is known, and composes") {
    run it{too_large{}};
    CHECK(it.close(train(0)) == truth::undecided);
    CHECK(it.step(train(1), "x", {nan_f}) == truth::undecided);
    CHECK(it.step(eval(0), "x", {1}) == truth::no);
    it.see(train(2), "y", {9});
    it.see(train(2), "x/1", {2});
    it.see(train(2), "x/2", {3});
    CHECK(it.close(train(2)) == truth::yes);
    finding const& found = it.found[0];
    CHECK((found.rule == "too_large" && found.reason == "values are large" && found.tensor == "x/1"));
    CHECK((found.measured == 2 && found.threshold == 1 && found.others == 1 && found.severity == severity::warning));
    coverage const covered = it.covered();
    CHECK((covered.matched == 3 && covered.judged == 2 && covered.fired == 1 && covered.undecided == 1));
    CHECK(fired(too_large{} | for_steps{3}, 5, "x", {2}) == indices{2, 3, 4});
}

TEST_CASE("a judging rule has patience, a majority, evidence of its own, and an error for what is not finite") {
    run it{with_everything{}};
    CHECK(it.step(eval(0), "x", {2}) == truth::undecided);
    CHECK(it.covered().reason == "matched, but never in mode train");
    CHECK(it.step(train(0), "x", {nan_f}) == truth::yes);
    CHECK((it.found[0].reason == "not a number" && it.found[0].severity == severity::error && it.found.size() == 1));
    CHECK(it.step(train(1), "x", {2}) == truth::no);
    it.see(train(2), "x", {2});
    it.see(train(2), "x", {3});              // one step more, not two
    CHECK(it.close(train(2)) == truth::no);  // half of those that are judged is no majority: it was blamed once
    CHECK(it.step(train(3), "x", {2}) == truth::yes);
    CHECK((it.found[0].detail.view() == "4 steps, 0 more" && it.found[0].severity == severity::warning));
    it.see(train(4), "x", {2});
    it.see(train(4), "x/2", {0});
    CHECK(it.close(train(4)) == truth::no);
    it.see(train(5), "x", {2});
    it.see(train(5), "x/2", {2});
    it.see(train(5), "x/3", {2});
    CHECK(it.close(train(5)) == truth::no);  // one of three is over its patience
    it.see(train(6), "x", {2});
    it.see(train(6), "x/2", {2});
    it.see(train(6), "x/3", {0});
    CHECK(it.close(train(6)) == truth::yes);
    CHECK((it.found[0].detail.view() == "7 steps, 1 more" && it.found[0].others == 1));
    for (std::uint64_t i = 7; i < 120; ++i) { (void)it.step(train(i), "loss", {i < 30 ? 8.0F : 1.0F}); }
    (void)it.step(train(120), "x", {2});
    CHECK(it.close(train(120)) == truth::undecided);
    CHECK(it.step(train(121), "x", {2}) == truth::yes);
    CHECK(it.found[0].severity == severity::info);  // training has settled
}
