// SPDX-License-Identifier: Apache-2.0
// Packs: many rules as one say what `||` of them says.
#include <tests/rule/stage.hpp>

#include <spotter/rule/rule_pack.hpp>

#include <tests/catch.hpp>

using namespace spotter;
using namespace stage;

namespace {

constexpr auto large_gradient = any("grad/*", l2 > 1.0);
constexpr auto no_weights = all_zero{.patience = 1};
constexpr auto large_loss = any("loss", mean > 2.0) | only{every{2}};
constexpr auto three_in_a_row = large_gradient || no_weights || large_loss;
constexpr auto one_of_three = together(large_gradient, no_weights, large_loss);

template <rule Rule>
std::vector<std::string> story(Rule const& rule) {
    run it{rule};
    std::vector<std::string> lines;
    for (std::uint64_t i = 0; i < 12; ++i) {
        step_id const at = i % 5 == 4 ? eval(i) : train(i);
        if (i % 3 != 0) { it.see(at, "grad/fc/w", {static_cast<float>(i) / 4, i % 4 == 1 ? nan_f : 0.5F}); }
        if (i % 4 != 1) { it.see(at, "fc/w", {i % 3 == 1 ? 1.0F : 0.0F, 0}); }
        if (i > 3) { it.see(at, "loss", {static_cast<float>(i) / 3}); }
        std::string line = std::to_string(static_cast<int>(it.close(at)));
        for (finding const& each : it.found) { line += ' ' + std::string{each.rule} + ' ' + std::string{each.tensor}; }
        lines.push_back(line);
    }
    it.inside().report([&](coverage const& each) {
        lines.push_back(std::string{each.rule} + ' ' + std::to_string(each.judged) + ' ' + std::to_string(each.fired));
    });
    return lines;
}

constexpr bool runs_in_a_constant() {
    run it{together(large_gradient, no_weights)};
    return it.step(train(0), "grad/fc/w", {3.0F}) == truth::yes && it.found.size() == 1;
}
static_assert(runs_in_a_constant());

}  // namespace

TEST_CASE("a pack says what its rules say side by side") {
    CHECK(story(one_of_three) == story(three_in_a_row));
    CHECK(story(together(one_of_three, one_of_three)) == story(one_of_three || one_of_three));
    CHECK(story(one_of_three | rearm{2} | cooldown{3}) == story(three_in_a_row | rearm{2} | cooldown{3}));
    CHECK(story(!one_of_three) == story(!three_in_a_row));
    CHECK(story(one_of_three && large_loss) == story(three_in_a_row && large_loss));
}

TEST_CASE("a pack asks of a tensor what its rules ask, and names the one that is malformed") {
    run it{one_of_three};
    it.see(train(0), "grad/fc/w", {1});
    it.see(train(0), "act/x", {1});
    it.see(train(0), "other", {1});
    CHECK(has(it.needs("grad/fc/w"), stats_mask::sum_squares));
    CHECK(it.needs("act/x") == needs_of(zeros));
    CHECK(it.needs("other") == stats_mask::none);
    CHECK(machine{together(large_gradient, any("[a", l2 > 0.0))}.malformed() == "[a");
}

namespace {

constexpr auto mild = any("x", maximum > 0.0) | severity::info;
constexpr auto hard = any("x", maximum > 0.0) | named{"hard"} | severity::error;
constexpr auto twelve = together(mild, mild, mild, mild, mild, mild, mild, mild, mild, mild, mild, mild);
constexpr auto sixteen = together(twelve, mild, mild, mild, mild);

template <rule Rule>
std::size_t errors_of(run<Rule> const& it) {
    std::size_t count = 0;
    for (finding const& each : it.found) { count += each.severity == severity::error ? 1 : 0; }
    return count;
}

}  // namespace

TEST_CASE("of more findings than there is room for the strongest stay, in their order") {
    run it{together(sixteen, mild, hard, on(mild, stop) | severity::warning, twelve)};
    CHECK(it.step(train(0), "x", {1}) == truth::yes);
    REQUIRE(it.found.size() == findings::capacity);
    CHECK(it.found.left_out() == 31 - findings::capacity);
    CHECK((it.found[14].rule == "hard" && it.found[14].severity == severity::error));
    CHECK(it.found[15].severity == severity::warning);
    CHECK(it.found[13].severity == severity::info);
    run either{sixteen || hard};
    CHECK(either.step(train(0), "x", {1}) == truth::yes);
    CHECK((errors_of(either) == 1 && either.found.size() == findings::capacity && either.found.left_out() == 1));
    run equals{together(on(mild, stop), sixteen, on(mild, stop), mild)};
    CHECK(equals.step(train(0), "x", {1}) == truth::yes);
    CHECK((response_of(equals.found[0]) == decision::stop && response_of(equals.found[15]) == decision::stop));
    CHECK(response_of(equals.found[14]) == decision::proceed);
}

TEST_CASE("what a rule takes back pushes nothing out") {
    run it{together(sixteen, hard | once, !hard, hard && any("x", maximum > 2.0))};
    CHECK(it.step(train(0), "x", {1}) == truth::yes);
    CHECK((errors_of(it) == 1 && it.found.left_out() == 1));
    CHECK(it.step(train(1), "x", {1}) == truth::yes);
    CHECK((errors_of(it) == 0 && it.found.size() == findings::capacity && it.found.left_out() == 0));
    run both{sixteen && on(hard, skip_update)};
    CHECK(both.step(train(0), "x", {1}) == truth::yes);
    CHECK((both.found.size() == findings::capacity && errors_of(both) == 1 && both.found.left_out() == 0));
    CHECK((both.found[0].severity == severity::error && response_of(both.found[0]) == decision::skip_update));
}

TEST_CASE("what a finding that was left out asks of the loop is asked all the same") {
    constexpr auto warns = any("x", maximum > 0.0);
    constexpr auto eight = together(warns, warns, warns, warns, warns, warns, warns, warns);
    run it{together(on(mild, stop), eight, eight)};
    CHECK(it.step(train(0), "x", {1}) == truth::yes);
    CHECK(it.found.left_out() == 1);
    for (finding const& each : it.found) { CHECK(response_of(each) == decision::proceed); }
    spotter::step_alarm reported;
    reported.add(it.found);
    CHECK((reported.decision() == decision::stop && reported.left_out() == 9));
    it.step(train(1), "x", {-1});
    spotter::step_alarm none;
    none.add(it.found);
    CHECK(none.decision() == decision::proceed);
}
