// SPDX-License-Identifier: Apache-2.0
// Judge (L2): experiments that check alarms, and what examinations have proven correct.
#pragma once

#include <spotter/judge/added_findings.hpp>
#include <spotter/judge/step_findings.hpp>
#include <spotter/rule/experiment.hpp>

#include <span>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// The latest outcome, for the record or from it.
struct kept_experiment {
    experiment_text event{};
    step_id step{};            // the step of the outcome
    experiment_answer said{};  // from a record; its texts are views of `event`
};

}  // namespace detail

// Runs experiments for alarms (spotter/preflight.hpp has one). Returns the outcome for the findings of a step, or null
// without an experiment. The outcome is valid until the next call.
template <class Examiner>
concept alarm_examiner = requires(Examiner& it, std::span<finding const> found, step_id step) {
    { it.answer(found, step) } noexcept -> std::convertible_to<experiment_answer const*>;
};

// Called only at steps with findings. In a loop it runs the examiner; in a replay it takes the recorded outcome, so
// that both report the same.
class alarm_experiment {
public:
    // The examiner must outlive the calls of answer().
    template <alarm_examiner Examiner>
    void ask(Examiner& who) noexcept {
        who_ = &who;
        answer_ = [](void* it, std::span<finding const> found, step_id step) noexcept -> experiment_answer const* {
            return static_cast<Examiner*>(it)->answer(found, step);
        };
    }
    // The causes of these rules were proven absent: from here on their findings become notes.
    void take_as_right(std::span<rule_id const> rules) noexcept;
    // Applies the outcome to the findings of a step at its close.
    void answer(step_findings& found, step_id step, std::uint32_t worker) noexcept;

    // There is an outcome that is not recorded yet.
    [[nodiscard]] bool has_event() const noexcept { return right_recorded_ < right_count_ || answered_; }
    // Returns the outcome as a text of the current step, once; otherwise an empty text.
    [[nodiscard]] std::string_view take_event() noexcept { return has_event() ? make_event() : std::string_view{}; }
    // Sets the outcome that a replay read, before the step's close. `find(place)` returns the finding that `first`
    // refers to, or null. The outcome's texts live as long as this.
    template <class Find>
    void take_back(std::string_view event, step_id step, Find&& find) noexcept {
        if (experiment_answer* const said = read_event(event, step); said != nullptr && !said->first.empty()) {
            said->first_finding = find(said->first);
        }
    }

private:
    [[nodiscard]] bool is_right(rule_id which) const noexcept;
    [[nodiscard]] std::string_view make_event() noexcept;
    [[nodiscard]] experiment_answer* read_event(std::string_view event, step_id step) noexcept;
    [[nodiscard]] experiment_answer const* said_of(std::span<finding const> found, step_id step) noexcept;

    void* who_ = nullptr;
    experiment_answer const* (*answer_)(void*, std::span<finding const>, step_id) noexcept = nullptr;
    static constexpr std::size_t most = 8;
    rule_id right_[most]{};
    std::size_t right_count_ = 0, right_recorded_ = 0;
    bool answered_ = false;
    slot_array<detail::kept_experiment> kept_{};  // at most one, after the first experiment
    added_findings texts_{};
};

#if SPOTTER_BODIES

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
    detail::write_right(made, {right_ + right_recorded_, right_count_ - right_recorded_});
    if (answered_) { made << kept_[0].event.view(); }
    right_recorded_ = right_count_, answered_ = false;
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

#endif

}  // namespace spotter::inline SPOTTER_ABI
