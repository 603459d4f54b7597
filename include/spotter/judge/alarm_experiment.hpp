// SPDX-License-Identifier: Apache-2.0
// Judge (L2): what an experiment says of an alarm: whoever is asked by it, and what was proven right before.
#pragma once

#include <spotter/judge/added_findings.hpp>
#include <spotter/judge/step_findings.hpp>

#include <span>

namespace spotter::inline SPOTTER_ABI {

// Who may be asked by an alarm (spotter/preflight.hpp has one): changes severity, decision and detail of what was
// found, and returns what it found itself and stands before all that, or null.
template <class Examiner>
concept alarm_examiner = requires(Examiner& it, std::span<finding> found, step_id step) {
    { it.answer(found, step) } noexcept -> std::convertible_to<finding const*>;
};

// Called where something was found, and at no other step.
class alarm_experiment {
public:
    // The examiner must live as long as it may be asked.
    template <alarm_examiner Examiner>
    void ask(Examiner& who) noexcept {
        who_ = &who;
        answer_ = [](void* it, std::span<finding> found, step_id step) noexcept -> finding const* {
            return static_cast<Examiner*>(it)->answer(found, step);
        };
    }
    // What these rules would name was proven right: from here on it is a note.
    void take_as_right(std::span<rule_id const> rules) noexcept;
    // Of a step at whose close something was found.
    void answer(step_findings& found, step_id step, std::uint32_t worker) noexcept;

private:
    [[nodiscard]] bool is_right(rule_id which) const noexcept;

    void* who_ = nullptr;
    finding const* (*answer_)(void*, std::span<finding>, step_id) noexcept = nullptr;
    static constexpr std::size_t most = 8;
    rule_id right_[most]{};
    std::size_t right_count_ = 0;
    added_findings texts_{};
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/judge/alarm_experiment.ipp>
#endif
