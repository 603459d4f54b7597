// SPDX-License-Identifier: Apache-2.0
// The bodies of alarm_experiment.hpp.
#pragma once

#include <spotter/hook/alarm_experiment.hpp>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_COLD_BODY void alarm_experiment::take_as_right(std::span<rule_id const> rules) noexcept {
    for (rule_id const each : rules) {
        bool const is_known = std::find(right_, right_ + right_count_, each) != right_ + right_count_;
        if (!is_known && right_count_ < most) { right_[right_count_++] = each; }
    }
}

SPOTTER_COLD_BODY void alarm_experiment::answer(step_findings& found, step_id step, std::uint32_t worker) noexcept {
    for (finding& each : found.all()) {
        if (std::find(right_, right_ + right_count_, each.id) != right_ + right_count_) {
            each.become_note("refuted: an examination proved it right");
        }
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
