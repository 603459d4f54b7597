// SPDX-License-Identifier: Apache-2.0
#include "told.hpp"

#include <string>
#include <string_view>

namespace diagnosis {

namespace {

namespace sd = spotter::detail;

// Signs whose finding has another rule than is usual in their row, or a reason that is asked for.
struct sign_rule {
    sd::sign what;
    spotter::rule_id rule;
    std::string_view reason{};
};
constexpr sign_rule rules[] = {
    {sd::sign::not_in_optimizer, spotter::rule_id::dead_update_path, "it never changes"},
    {sd::sign::updates_without_effect, spotter::rule_id::dead_update_path, "updates do not change it"},
    {sd::sign::updates_undone, spotter::rule_id::dead_update_path, "it has its first values again"},
    {sd::sign::no_gradient, spotter::rule_id::dead_update_path, "no gradient arrives"},
    {sd::sign::policy_ascends, spotter::rule_id::rl_policy_ascends},
    {sd::sign::loss_without_bottom, spotter::rule_id::loss_not_decreasing, "loss falls without bound"},
    {sd::sign::dead_without_a_leap, spotter::rule_id::all_zero},
    {sd::sign::saturated_units, spotter::rule_id::saturated_activation},
    {sd::sign::nothing_to_gain, spotter::rule_id::vanishing_gradient},
    {sd::sign::gradient_fades_with_depth, spotter::rule_id::gradient_depth_ratio},
    {sd::sign::labels_contradict, spotter::rule_id::label_noise},
    {sd::sign::eval_as_before, spotter::rule_id::overfit},
    {sd::sign::eval_rises, spotter::rule_id::overtraining},
};

reported_finding named(spotter::rule_id rule, std::string_view reason = {}) {
    return {std::string{spotter::name_of(rule)}, std::string{reason}, {}, 0, 0};
}

}  // namespace

reported_finding told_as(sd::cause what, sd::signs const& seen) {
    if (what == sd::cause::none) {
        bool const worse = seen.has(sd::sign::loss_gets_worse);
        return named(spotter::rule_id::loss_not_decreasing, worse ? "loss rises" : "loss is flat");
    }
    sd::cause_row const& row = sd::row_of(what);
    // A value that is not finite has the name only of a cause that can overflow.
    if (seen.has(sd::sign::bad_values) && !row.may_overflow) { return named(spotter::rule_id::non_finite); }
    for (sd::weighed_sign const& each : row.evidence) {
        if (each.what == sd::sign::count || each.weight < 0 || !seen.has(each.what)) { continue; }
        for (sign_rule const& one : rules) {
            if (one.what == each.what) { return named(one.rule, one.reason); }
        }
        break;
    }
    return named(row.usual_rule);
}

reported_finding second_of(verdict const& said) {
    if (said.first.empty() || said.first.front().other.empty()) { return {}; }
    return told_as(sd::rank(said.seen).second, said.seen);
}

}  // namespace diagnosis
