// SPDX-License-Identifier: Apache-2.0
// The one list of rules: an id for each, which its findings carry whatever they are called.
#include <tests/rule/stage.hpp>

#include <spotter/rule/builtin/catalogue.hpp>

#include <tests/catch.hpp>

#include <set>
#include <type_traits>

using namespace spotter;
using namespace stage;

// Names of the version before.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static_assert(std::is_same_v<terms, stats_mask> && terms::sum == stats_mask::sum);
static_assert(std::is_same_v<culprit, violation>);
#pragma GCC diagnostic pop

namespace {

struct of_mine {
    using kind = rule_kind;
    static constexpr std::string_view name = "of_mine";
    struct state {};
    [[nodiscard]] constexpr stats_mask needs(tensor_info const&) const { return stats_mask::sum; }
    constexpr void observe(state&, observation const&) const {}
    constexpr truth close(state&, step_id, findings& out) const {
        out.push({.reason = "always"});
        return truth::yes;
    }
};

template <class Rule>
finding first_of(Rule const& rule, std::initializer_list<float> values) {
    run it{rule};
    it.step(train(0), "grad/w", values);
    return it.found.empty() ? finding{} : it.found[0];
}

constexpr float no_number = std::numeric_limits<float>::quiet_NaN();

}  // namespace

// What explains findings asks for them by these: where one is renamed, it does not compile.
static_assert(rule_id_of<dead_relu> == rule_id::dead_relu && name_of(rule_id::dead_relu) == "dead_relu");
static_assert(rule_id_named("dead_reul") == rule_id::other && rule_id_named("") == rule_id::other);
static_assert(rule_id_of<of_mine> == rule_id::other && name_of(rule_id::other).empty());

TEST_CASE("every rule of the list has an id of its own, and its name leads back to it") {
    std::set<rule_id> met;
    detail::each_built_in_rule([&]<class Rule>(Rule const&) {
        INFO(Rule::name);
        constexpr rule_id id = rule_id_of<Rule>;
        CHECK(id != rule_id::other);
        CHECK(name_of(id) == Rule::name);
        CHECK(rule_id_named(Rule::name) == id);
        CHECK(met.insert(id).second);
    });
    for (rule_id const each : {rule_id::learning_rate_too_large, rule_id::stop_file}) {
        CHECK(rule_id_named(name_of(each)) == each);
        CHECK(met.insert(each).second);
    }
}

TEST_CASE("a finding has the id of the rule that found it, and keeps it under another name") {
    finding const plain = first_of(non_finite{}, {no_number});
    CHECK((plain.id == rule_id::non_finite && plain.rule == "non_finite"));
    finding const renamed = first_of(on(non_finite{} | named{"dead_relu"}, proceed), {no_number});
    CHECK((renamed.id == rule_id::non_finite && renamed.rule == "dead_relu"));
    finding const either = first_of(all_zero{.patience = 1} || non_finite{}, {no_number});
    CHECK(either.id == rule_id::non_finite);
    CHECK((first_of(of_mine{}, {1}).id == rule_id::other && first_of(of_mine{}, {1}).rule == "of_mine"));
    CHECK(first_of(!non_finite{}, {1}).id == rule_id::other);
    CHECK(first_of(any("*", l2 > 1), {2}).id == rule_id::other);
}

TEST_CASE("of a rule with several conditions a finding says by a number which it was") {
    run it{poor_weight_initialization{.patience = 0, .steps = 1}};
    it.see(train(0), "grad/fc/w", {0, 0, 0});
    it.see(train(0), "loss", {1});
    CHECK(it.close(train(0)) == truth::yes);
    REQUIRE(it.found.size() == 1);
    using rule = poor_weight_initialization;
    CHECK(it.found[0].is<rule>(rule::all_alike));
    CHECK_FALSE(it.found[0].is<rule>(rule::began_alike));
    CHECK_FALSE(it.found[0].is<constant_batch>(constant_batch::same_batch));  // the same number of another rule
    CHECK(first_of(all_zero{.patience = 1}, {0}).condition == 0);
}
