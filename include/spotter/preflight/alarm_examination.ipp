// SPDX-License-Identifier: Apache-2.0
// The bodies of alarm_examination.hpp.
#pragma once

#include <spotter/preflight/alarm_examination.hpp>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI::detail {

// The causes that prove what a rule of runs names; none of a rule that asks for no experiment. Where none of them was
// found, the rule may be right all the same: only what `preflight_result::proven_right` has is refuted.
[[nodiscard]] inline std::span<preflight_cause const> causes_that_prove(rule_id rule) noexcept {
    using enum preflight_cause;
    static constexpr preflight_cause cleared[] = {gradient_not_cleared};
    static constexpr preflight_cause sign[] = {update_direction, negated_gradient, weight_decay_grows};
    static constexpr preflight_cause moves_nothing[] = {learning_rate_zero, dead_update_path, no_gradient};
    static constexpr preflight_cause layer[] = {dead_update_path, learning_rate_zero, no_gradient,
                                                missing_gradient, detached,           no_effect};
    static constexpr preflight_cause too_large[] = {learning_rate_too_large};
    static constexpr preflight_cause too_small[] = {learning_rate_too_small, learning_rate_zero};
    static constexpr preflight_cause backward[] = {no_gradient, detached, missing_gradient, no_effect, wrong_backward};
    switch (rule) {
        case rule_id::gradient_not_cleared:
            return cleared;
        case rule_id::update_direction:
            return sign;
        case rule_id::learning_rate_zero:
            return moves_nothing;
        case rule_id::dead_update_path:
            return layer;
        case rule_id::learning_rate_too_large:
        case rule_id::update_ratio_band:
            return too_large;
        case rule_id::learning_rate_too_small:
        case rule_id::updates_too_small:
            return too_small;
        case rule_id::vanishing_gradient:
            return backward;
        default:
            return {};
    }
}

SPOTTER_COLD_BODY bool asks_for_experiment(std::span<finding const> found) noexcept {
    return std::any_of(found.begin(), found.end(), [](finding const& each) {
        return each.severity >= severity::warning && !causes_that_prove(each.id).empty();
    });
}

SPOTTER_COLD_BODY finding const* answer_alarm(preflight_result const& examined, std::span<finding> found) noexcept {
    auto const right = examined.proven_right();
    preflight_finding const* const first = examined.all().empty() ? nullptr : examined.all().data();
    // A fault of the loop's own code, and neither of its data nor of what is no more than explained by it.
    bool leads = first != nullptr && first->told.severity >= severity::warning &&
                 first->cause >= preflight_cause::no_gradient && first->cause <= preflight_cause::weight_decay_grows;
    for (finding& each : found) {
        auto const causes = causes_that_prove(each.id);
        if (causes.empty() || each.severity < severity::warning) { continue; }
        preflight_finding const* proof = nullptr;
        for (preflight_finding const& it : examined.all()) {
            bool const proves = std::find(causes.begin(), causes.end(), it.cause) != causes.end();
            if (proof == nullptr && proves && it.told.severity >= severity::warning) { proof = &it; }
        }
        if (proof != nullptr) {
            evidence_text why;
            why << "proven: " << proof->told.rule << " at \"" << proof->told.tensor << '"';
            if (!each.detail.empty()) { why << "; " << each.detail.view(); }
            each.detail = why;
            each.leads = true;
            leads = leads && proof != first;
        } else if (std::find(right.begin(), right.end(), each.id) != right.end()) {
            each.become_note("refuted: an examination proved it right");
        } else {
            evidence_text why;
            why << "not proven";
            if (!each.detail.empty()) { why << "; " << each.detail.view(); }
            each.detail = why;
        }
    }
    return leads ? &first->told : nullptr;
}

}  // namespace spotter::inline SPOTTER_ABI::detail
