// SPDX-License-Identifier: Apache-2.0
// Composition of rules: Kleene's logic over answers, no short circuit, the evidence of the leaf that decided.
#include <tests/rule/stage.hpp>

#include <tests/catch.hpp>

#include <string>

using namespace spotter;
using namespace stage;

namespace {

constexpr auto a = any("a", maximum > 0);
constexpr auto b = any("b", maximum > 0);

// A close at which `a` and `b` are what the letters say: y, n, or `.` for a tensor that is not there.
template <rule Rule>
truth close_with(run<Rule>& it, std::uint64_t index, char of_a, char of_b) {
    if (of_a != '.') { it.see(train(index), "a", {of_a == 'y' ? 1.0F : -1.0F}); }
    if (of_b != '.') { it.see(train(index), "b", {of_b == 'y' ? 2.0F : -2.0F}); }
    return it.close(train(index));
}
template <rule Rule>
truth answer_of(Rule const& rule, char of_a, char of_b) {
    run it{rule};
    return close_with(it, 0, of_a, of_b);
}
truth kleene(char letter) { return letter == 'y' ? truth::yes : letter == 'n' ? truth::no : truth::undecided; }

}  // namespace

TEST_CASE("composites answer by Kleene's tables [A45]", "[A45]") {
    for (char x : {'y', 'n', '.'}) {
        for (char y : {'y', 'n', '.'}) {
            INFO(x << y);
            CHECK(answer_of(a && b, x, y) == conjunction(kleene(x), kleene(y)));
            CHECK(answer_of(a || b, x, y) == disjunction(kleene(x), kleene(y)));
            CHECK(answer_of(!a, x, y) == negation(kleene(x)));
            CHECK(answer_of(!(a || b), x, y) == answer_of(!a && !b, x, y));
            CHECK(answer_of(!(a && b), x, y) == answer_of(!a || !b, x, y));
            CHECK(answer_of(!!a, x, y) == answer_of(a, x, y));
        }
    }
}

TEST_CASE("a quantifier without a matching tensor is silent, also when negated [S69]", "[S69]") {
    constexpr auto none_any = any("x*", maximum > 0);
    constexpr auto none_all = all("x*", maximum > 0);
    for (std::uint64_t i = 0; i < 3; ++i) {
        CHECK(answer_of(none_any, 'y', 'n') == truth::undecided);
        CHECK(answer_of(none_all, 'y', 'n') == truth::undecided);
        CHECK(answer_of(!none_any, 'y', 'n') == truth::undecided);
        CHECK(answer_of(!none_all, 'y', 'n') == truth::undecided);
    }
    CHECK(answer_of(none_any || a, 'y', '.') == truth::yes);
    CHECK(answer_of(none_any && a, 'y', '.') == truth::undecided);
}

TEST_CASE("both sides see every event, whatever the other says [A47]", "[A47]") {
    // b's streak grows although a says no (&&) or yes (||) for two steps.
    run both{a && (b | for_steps{3})};
    CHECK(close_with(both, 0, 'n', 'y') == truth::no);
    CHECK(close_with(both, 1, 'n', 'y') == truth::no);
    CHECK(close_with(both, 2, 'y', 'y') == truth::yes);
    run either{a || (b | for_steps{3})};
    CHECK(close_with(either, 0, 'y', 'y') == truth::yes);
    CHECK(close_with(either, 1, 'y', 'y') == truth::yes);
    CHECK(close_with(either, 2, 'n', 'y') == truth::yes);
    CHECK(either.found[0].tensor == "b");
}

TEST_CASE("a && b reports the left leaf with the larger severity [S71] [A51]", "[S71][A51]") {
    run it{a && (b | severity::error)};
    CHECK(close_with(it, 5, 'y', 'y') == truth::yes);
    REQUIRE(it.found.size() == 1);
    CHECK((it.found[0].tensor == "a" && it.found[0].severity == severity::error && it.found[0].step == train(5)));
    CHECK((it.found[0].measured == 1 && it.found[0].threshold == 0));
    CHECK(close_with(it, 6, 'y', 'n') == truth::no);
    CHECK(it.found.empty());
    run lowered{(a | severity::error) && (b | severity::info)};
    CHECK(close_with(lowered, 0, 'y', 'y') == truth::yes);
    CHECK(lowered.found[0].severity == severity::error);
}

TEST_CASE("a && b asks for the stronger response of the two") {
    auto const response = [](auto const& rule) {
        run it{rule};
        CHECK(close_with(it, 0, 'y', 'y') == truth::yes);
        return response_of(it.found[0]);
    };
    CHECK(response(a && b) == decision::proceed);
    CHECK(response(a && on(b, skip_update)) == decision::skip_update);
    CHECK(response(on(a, stop) && on(b, skip_update)) == decision::stop);
    CHECK(response((a | severity::error) && on(b, skip_update)) == decision::stop);
    CHECK(response(on(a, skip_update) && (b | severity::error)) == decision::stop);
    CHECK(response(on(a | severity::error, proceed) && b) == decision::proceed);
}

TEST_CASE("a || b reports both, a negation names no tensor") {
    run it{a || b};
    CHECK(close_with(it, 0, 'y', 'y') == truth::yes);
    REQUIRE(it.found.size() == 2);
    CHECK((it.found[0].tensor == "a" && it.found[1].tensor == "b"));
    CHECK(close_with(it, 1, '.', 'y') == truth::yes);
    CHECK((it.found.size() == 1 && it.found[0].tensor == "b"));
    run no{!a};
    CHECK(close_with(no, 0, 'n', '.') == truth::yes);
    CHECK((no.found.size() == 1 && no.found[0].tensor.empty() && no.found[0].rule == "not" &&
           no.found[0].step == train(0)));
    run mixed{!a && b};
    CHECK(close_with(mixed, 0, 'n', 'y') == truth::yes);
    CHECK((mixed.found.size() == 1 && mixed.found[0].rule == "not"));
}

TEST_CASE("composites own their parts by value; one value runs in two machines at once") {
    constexpr auto rule = [] {
        auto const left = any("a", maximum > 0) | for_steps{2};
        auto const right = any("b", maximum > 0);
        return left || right;
    }();
    run first{rule}, second{rule};
    CHECK(close_with(first, 0, 'y', 'n') == truth::no);
    CHECK(close_with(second, 0, 'n', 'n') == truth::no);
    CHECK(close_with(first, 1, 'y', 'n') == truth::yes);
    CHECK(close_with(second, 1, 'y', 'n') == truth::no);
}

TEST_CASE("the example of the catalogue composes: vanishing gradients and a loss that is stuck") {
    constexpr auto stuck = (vanishing_gradient{.patience = 1} && loss_not_decreasing::sagemaker_defaults()) | once;
    run it{stuck};
    std::vector<std::uint64_t> at;
    for (std::uint64_t i = 0; i < 40; ++i) {
        it.see(train(i), "loss", {2});
        it.see(train(i), "grad/w", {0});
        if (it.close(train(i)) == truth::yes) {
            at.push_back(i);
            CHECK((it.found[0].rule == "vanishing_gradient" && it.found.size() == 1));
        }
    }
    CHECK(at == indices{10});
}

TEST_CASE("more findings than there is room for are counted") {
    findings many;
    for (std::size_t i = 0; i < findings::capacity + 3; ++i) { many.push({}); }
    CHECK((many.size() == findings::capacity && many.left_out() == 3));
    spotter::step_alarm it;
    CHECK((!it && it.empty() && it.decision() == decision::proceed));
    finding one;
    one.severity = severity::info;
    it.add(one);
    CHECK((!it && it.size() == 1));
    one.severity = severity::error, one.decision = decision::stop;
    it.add(one);
    CHECK((it && it.front().severity == severity::error && it[1].severity == severity::info &&
           it.decision() == decision::stop));
    it.add(many);
    CHECK((it.size() == step_alarm::capacity && it.left_out() == 2 + findings::capacity + 3 - step_alarm::capacity));
    spotter::step_alarm const copy{it};
    CHECK((copy.size() == it.size() && copy.front().severity == severity::error && copy.left_out() == it.left_out()));
}

TEST_CASE("an alarm knows the strongest decision though the finding that asks for it is left out") {
    spotter::step_alarm all;
    for (int i = 0; i < 8; ++i) { all.add(finding{.rule = "warns", .severity = severity::warning}); }
    all.add(finding{.rule = "quiet", .severity = severity::info, .decision = decision::stop});
    CHECK((all.size() == 8 && all.left_out() == 1));
    CHECK(all.decision() == decision::stop);
    spotter::step_alarm const copy = all;
    CHECK(copy.decision() == decision::stop);
    spotter::step_alarm joined;
    joined.add(copy);
    CHECK((joined.size() == 8 && joined.left_out() == 1 && joined.decision() == decision::stop));
    joined = spotter::step_alarm{};
    CHECK(joined.decision() == decision::proceed);
}
