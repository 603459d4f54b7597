// SPDX-License-Identifier: Apache-2.0
// Judge (L2): what an experiment says of an alarm: whoever is asked by it, and what was proven right before.
#pragma once

#include <spotter/judge/added_findings.hpp>
#include <spotter/judge/step_findings.hpp>
#include <spotter/rule/experiment.hpp>

#include <span>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// What was said last, for the record or out of it.
struct kept_experiment {
    experiment_text event{};
    step_id step{};            // of which the answer is
    experiment_answer said{};  // out of a record; views of `event`
};

}  // namespace detail

// Who may be asked by an alarm (spotter/preflight.hpp has one): what an experiment says of what was found, or null
// where none was made. It holds until the next.
template <class Examiner>
concept alarm_examiner = requires(Examiner& it, std::span<finding const> found, step_id step) {
    { it.answer(found, step) } noexcept -> std::convertible_to<experiment_answer const*>;
};

// Called where something was found, and at no other step. In a loop it asks; in a replay it takes from the record what
// was said there, so that both tell the same.
class alarm_experiment {
public:
    // The examiner must live as long as it may be asked.
    template <alarm_examiner Examiner>
    void ask(Examiner& who) noexcept {
        who_ = &who;
        answer_ = [](void* it, std::span<finding const> found, step_id step) noexcept -> experiment_answer const* {
            return static_cast<Examiner*>(it)->answer(found, step);
        };
    }
    // What these rules would name was proven right: from here on it is a note.
    void take_as_right(std::span<rule_id const> rules) noexcept;
    // Of a step at whose close something was found.
    void answer(step_findings& found, step_id step, std::uint32_t worker) noexcept;

    // Something was said that the record does not have yet.
    [[nodiscard]] bool has_event() const noexcept { return right_told_ < right_count_ || answered_; }
    // That, once, for the record; else nothing. It is a text of the step at hand.
    [[nodiscard]] std::string_view take_event() noexcept { return has_event() ? make_event() : std::string_view{}; }
    // Out of the record of a step, before its close; `told(place)` finds what was told of `first`, or null. Its texts
    // live as long as what is judged.
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
    slot_array<detail::kept_experiment> kept_{};  // one, once there was an experiment
    added_findings texts_{};
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/judge/alarm_experiment.ipp>
#endif
