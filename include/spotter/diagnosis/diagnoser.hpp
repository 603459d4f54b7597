// SPDX-License-Identifier: Apache-2.0
// Diagnosis (L2): what the rules of a pack find, told as one cause and what follows from it. While the run makes
// progress symptoms are notes; a condition is certain, an outcome or a symptom by its rule and reason.
// docs/diagnosis.md
#pragma once

#include <spotter/diagnosis/causes.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

class diagnoser {
public:
    // `objective`: a loss of training is what is to fall.
    explicit diagnoser(bool objective, diagnosis_limits const& limits = {}) noexcept
        : limits_{limits}, losses_{objective, limits.progress} {}

    // Takes memory for what the rules say, once before the first close; false where there is none.
    [[nodiscard]] bool reserve() noexcept { return said_.reserve(); }

    [[nodiscard]] static terms needs(tensor_info const& tensor) noexcept;
    // False where there is no memory.
    [[nodiscard]] bool declare(tensor_info const& tensor) noexcept;
    void observe(observation const& it) noexcept;

    // A close: first this, then what each rule says, then tell().
    void begin_close() noexcept { ++close_; }
    // The rule at that place in the pack found something, or nothing: it could decide.
    void note(std::size_t place, finding const& it) noexcept { said_.note(place, it, close_); }
    void decided(std::size_t place) noexcept { said_.decided(place, close_); }
    // What it leaves beside another answer is evidence of a cause, and no finding.
    void hear(std::size_t place, finding const& it) noexcept { said_.hear(place, it, close_); }
    // What is new at this close: the cause first, what is certain beside it, and the rest as notes. False where that is
    // nothing.
    [[nodiscard]] bool tell(step_id step, findings& out) noexcept;

private:
    // What a close brings.
    struct news {
        bool alarm = false, outcome = false;  // something has to be told; the run itself is why
        bool anything = false;                // some condition holds
        severity level = severity::info;      // of the alarm
        severity held = severity::info;       // of what holds, told or not
        finding const* bad_value = nullptr;   // where values that are no numbers began

        void raise(severity to) noexcept { alarm = true, level = to > level ? to : level; }
    };
    [[nodiscard]] bool loses_by_its_own_steps() const noexcept;
    [[nodiscard]] spotter::progress outcome() noexcept;
    [[nodiscard]] news look(spotter::progress now, bool in_training) noexcept;
    void look_at(episode& it, spotter::progress now, bool after_bad_value, news& into) noexcept;
    [[nodiscard]] bool tell_cause(news const& what, spotter::progress now, finding& told, findings& out) noexcept;
    // What was found at this close beside the cause: what is certain at its level, and the rest as a note.
    void tell_beside(episode& it, spotter::progress now, bool any_alarm, bool leads, findings& out) noexcept;
    // Values that are no numbers, in the mode of the cause: those of another are another matter. Of other causes each.
    [[nodiscard]] bool is_of_cause_mode(finding const& it) const noexcept;
    // That was told as the cause.
    [[nodiscard]] bool is_cause(finding const& it) const noexcept;
    [[nodiscard]] severity level_of(episode const& it, spotter::progress now) const noexcept;
    // Of a symptom: it waits for what may explain it; two witnesses speak for it; it stands alone, as no outcome is
    // shown.
    [[nodiscard]] bool waits(episode const& it) const noexcept;
    [[nodiscard]] bool is_witnessed(finding const& it) const noexcept;
    [[nodiscard]] bool stands_alone(finding const& it) const noexcept;
    // At a close not long ago; 0: never.
    [[nodiscard]] bool was_lately(std::uint64_t close) const noexcept {
        return close != 0 && close_ - close < episodes::quiet_for;
    }
    // A symptom of an illness that was told a short while ago, or once more of the rule and the tensor that told it.
    [[nodiscard]] bool explained(episode const& it) const noexcept;
    [[nodiscard]] bool says_the_same(episode const& it) const noexcept;

    diagnosis_limits limits_;
    progress_watch losses_;
    update_sizes weights_;
    episodes said_;
    std::uint64_t close_ = 0;
    step_id last_[mode_count]{};  // of each mode the step that was closed last
    spotter::progress told_ =
        spotter::progress::unknown;    // the last that was an alarm; unknown: none since it was well
    std::uint64_t bad_values_at_ = 0;  // the last close with values that are no numbers
    rule_id cause_ = rule_id::other;   // that was told last, `other`: none,
    std::string_view cause_reason_{}, cause_tensor_{};
    mode cause_mode_ = mode::train;  // at a step of it
    severity cause_level_ = severity::info;
    bool weights_told_ = false, sign_told_ = false;
    bool has_classes_ = false, classes_below_zero_ = false;  // labels of whole numbers were seen; such ones
    std::uint64_t cause_at_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/diagnosis/diagnoser.ipp>
#endif
