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

// The examiner's outcome or, in a replay, the recorded one of this step.
SPOTTER_COLD_BODY experiment_answer const* alarm_experiment::said_of(std::span<finding const> found,
                                                                     step_id step) noexcept {
    if (answer_ == nullptr) {
        bool const is_replayed = kept_.size() > 0 && kept_[0].step == step && kept_[0].said.count > 0;
        return is_replayed && kept_[0].said.concerns(found) ? &kept_[0].said : nullptr;
    }
    experiment_answer const* const said = answer_(who_, found, step);
    if (said != nullptr && kept_.grow(1)) {
        kept_[0].event = {};
        detail::write_answer(kept_[0].event, *said);
        answered_ = true;
    }
    return said;
}

SPOTTER_COLD_BODY void alarm_experiment::answer(step_findings& found, step_id step, std::uint32_t worker) noexcept {
    for (finding& each : found.all()) {
        if (is_right(each.id)) { each.become_note("refuted: an examination proved it right"); }
    }
    if (found.all().empty()) { return; }
    experiment_answer const* const said = said_of(found.all(), step);
    finding const* const more = said != nullptr ? said->apply(found.all()) : nullptr;
    if (more == nullptr) { return; }
    finding kept = answer_ != nullptr ? texts_.keep(*more) : *more;
    kept.leads = true;
    kept.step = step, kept.worker = worker;
    (void)found.take(kept);
}

SPOTTER_COLD_BODY std::string_view alarm_experiment::make_event() noexcept {
    if (!kept_.grow(1)) { return {}; }
    detail::experiment_text made;
    detail::write_right(made, {right_ + right_told_, right_count_ - right_told_});
    if (answered_) { made << kept_[0].event.view(); }
    right_told_ = right_count_, answered_ = false;
    kept_[0].event = made;
    return kept_[0].event.view();
}

SPOTTER_COLD_BODY experiment_answer* alarm_experiment::read_event(std::string_view event, step_id step) noexcept {
    if (!kept_.grow(1)) { return nullptr; }
    detail::kept_experiment& into = kept_[0];
    into.event = detail::experiment_text{event};
    detail::experiment_reader read{into.event.view()};
    if (!read.read()) { return nullptr; }
    take_as_right(read.right());
    into.said = read.answer(), into.step = step;
    return &into.said;
}

}  // namespace spotter::inline SPOTTER_ABI
