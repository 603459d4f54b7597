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
    [[nodiscard]] bool has_event() const noexcept { return right_told_ < right_count_ || answered_; }
    // Returns the outcome as a text of the current step, once; otherwise an empty text.
    [[nodiscard]] std::string_view take_event() noexcept { return has_event() ? make_event() : std::string_view{}; }
    // Sets the outcome that a replay read, before the step's close. `told(place)` returns the finding that `first`
    // refers to, or null. The outcome's texts live as long as this.
    template <class Told>
    void take_back(std::string_view event, step_id step, Told&& told) noexcept {
        if (experiment_answer* const said = read_event(event, step); said != nullptr && !said->first.empty()) {
            said->told_first = told(said->first);
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
    std::size_t right_count_ = 0, right_told_ = 0;
    bool answered_ = false;
    slot_array<detail::kept_experiment> kept_{};  // at most one, after the first experiment
    added_findings texts_{};
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/judge/alarm_experiment.ipp>
#endif
