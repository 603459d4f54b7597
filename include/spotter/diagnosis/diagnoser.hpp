// SPDX-License-Identifier: Apache-2.0
// Diagnosis (L2): reports what the rules of a pack find as one cause and its consequences. While the run makes
// progress, symptoms are notes. The rule and its reason say whether a condition is certain, an outcome or a symptom.
// docs/internals/diagnosis.md
#pragma once

#include <spotter/diagnosis/causes.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

class diagnoser {
public:
    // `objective`: training is to make its loss fall (not so in reinforcement learning).
    explicit diagnoser(bool objective, diagnosis_limits const& limits = {}) noexcept
        : limits_{limits}, losses_{objective, limits.progress} {}

    // Allocates memory for the findings, once before the first close; false where memory is short.
    [[nodiscard]] bool reserve() noexcept { return said_.reserve(); }

    [[nodiscard]] static stats_mask needs(tensor_info const& tensor) noexcept;
    // False where memory is short.
    [[nodiscard]] bool declare(tensor_info const& tensor) noexcept;
    void observe(observation const& it) noexcept;

    // A close: the pack calls begin_close(), then for each rule what it answered, then tell().
    void begin_close() noexcept { ++close_, weights_.close(); }
    // The rule at that place in the pack found this; the rule could decide (it found something, or nothing).
    void note(std::size_t place, finding const& it) noexcept { said_.note(place, it, close_); }
    void decided(std::size_t place) noexcept { said_.decided(place, close_); }
    // The rule left this without reporting it: evidence of a cause, and no finding.
    void hear(std::size_t place, finding const& it) noexcept { said_.hear(place, it, close_); }
    // Writes what is new at this close: the cause first, then what is certain beside it, then the rest as notes. False
    // where nothing is new.
    [[nodiscard]] bool tell(step_id step, findings& out) noexcept;

    // The signs of the latest search for a cause. A bench ranks them with other weights.
    [[nodiscard]] signs seen() const noexcept { return seen_; }

private:
    // What is new at a close.
    struct news {
        bool outcome = false;                // the progress of the run is an alarm
        bool anything = false;               // some condition holds
        severity level = severity::info;     // of the alarm; info: there is none
        severity held = severity::info;      // of all that holds, reported or not
        finding const* bad_value = nullptr;  // where values that are not finite began

        void raise(severity to) noexcept { level = to > level ? to : level; }
        [[nodiscard]] bool alarm() const noexcept { return level > severity::info; }
    };
    [[nodiscard]] bool loses_by_its_own_steps() const noexcept;
    [[nodiscard]] bool leaves_a_plateau() const noexcept;
    [[nodiscard]] bool has_dead_layer() const noexcept;
    [[nodiscard]] bool is_dead_layer(episode const& it) const noexcept;
    [[nodiscard]] bool one_layer_climbs() const noexcept;
    [[nodiscard]] spotter::progress outcome() noexcept;
    // A loss changed its level while weights took small steps. One that rose begins anew, twice at most. Writes the
    // note on the first. False where there is none to report.
    [[nodiscard]] bool begins_anew(step_id step, finding& note) noexcept;
    [[nodiscard]] news look(spotter::progress now, bool in_training) noexcept;
    void look_at(episode& it, spotter::progress now, bool after_bad_value, news& into) noexcept;
    void look_beside_rules(spotter::progress now, news& into) noexcept;
    [[nodiscard]] bool tell_cause(news const& what, spotter::progress now, finding& reported, findings& out) noexcept;
    // Reports what was found at this close beside the cause: what is certain at its severity, and the rest as a note.
    void tell_beside(episode& it, spotter::progress now, bool any_alarm, bool leads, findings& out) noexcept;
    // It is of the rule of the cause that was reported last, and has the same `part`, the reason or the tensor. Values
    // that are not finite are another fault in another mode.
    [[nodiscard]] bool is_cause(finding const& it, std::string_view finding::* part) const noexcept;
    [[nodiscard]] standing standing_of(finding const& it) const noexcept;
    [[nodiscard]] severity level_of(episode const& it, spotter::progress now) const noexcept;
    // For a symptom: whether it waits for other evidence that may explain it; whether a second witness confirms it;
    // whether it is an alarm by itself, as no outcome is shown.
    [[nodiscard]] bool waits(episode const& it) const noexcept;
    [[nodiscard]] bool is_witnessed(finding const& it, spotter::progress now) const noexcept;
    [[nodiscard]] bool stands_alone(finding const& it) const noexcept;
    // Whether a close was within the last `quiet_for`; 0: never.
    [[nodiscard]] bool was_lately(std::uint64_t close) const noexcept {
        return close != 0 && close_ - close < episodes::quiet_for;
    }
    // Whether a recent cause explains it: it is a symptom, or it is the same rule and tensor again.
    [[nodiscard]] bool explained(episode const& it) const noexcept;

    diagnosis_limits limits_;
    progress_watch losses_;
    update_sizes weights_;
    episodes said_;
    signs seen_{};
    std::uint64_t close_ = 0;
    step_id last_[mode_count]{};  // the step that was closed last in each mode
    spotter::progress reported_progress_ =
        spotter::progress::unknown;    // the last progress that was an alarm; unknown: none since the run improved
    std::uint64_t bad_values_at_ = 0;  // the last close with values that are not finite
    finding cause_{};                  // the cause that was reported last; its rule is `other` where there is none
    bool weights_reported_ = false, leap_reported_ = false, course_reported_ = false, end_reported_ = false,
         sign_reported_ = false, climb_reported_ = false, names_checked_ = false;
    class_range classes_{};
    std::uint64_t cause_at_ = 0;
    std::uint64_t shifts_ = 0;  // changes of a loss's level that no update explains
};

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/diagnosis/diagnoser.ipp>
#endif
