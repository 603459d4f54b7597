// SPDX-License-Identifier: Apache-2.0
// The bodies of alarm_experiment.hpp.
#pragma once

#include <spotter/judge/alarm_experiment.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_COLD_BODY bool alarm_experiment::is_right(rule_id which) const noexcept {
    bool is = false;
    for (std::size_t i = 0; i < right_count_; ++i) { is = is || right_[i] == which; }
    return is;
}

SPOTTER_COLD_BODY void alarm_experiment::take_as_right(std::span<rule_id const> rules) noexcept {
    for (rule_id const each : rules) {
        if (!is_right(each) && right_count_ < most) { right_[right_count_++] = each; }
    }
}

SPOTTER_COLD_BODY void alarm_experiment::answer(step_findings& found, step_id step, std::uint32_t worker) noexcept {
    for (finding& each : found.all()) {
        if (is_right(each.id)) { each.become_note("refuted: an examination proved it right"); }
    }
    if (answer_ == nullptr || found.all().empty()) { return; }
    finding const* const more = answer_(who_, found.all(), step);
    if (more == nullptr) { return; }
    finding kept = texts_.keep(*more);
    kept.leads = true;
    kept.step = step, kept.worker = worker;
    (void)found.take(kept);
}

}  // namespace spotter::inline SPOTTER_ABI
