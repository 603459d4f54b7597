// SPDX-License-Identifier: Apache-2.0
// Diagnosis (L2): the cause of what the rules of a pack found: from a run to its signs, and from a cause to its
// finding.
#pragma once

#include <spotter/diagnosis/cause_table.hpp>
#include <spotter/diagnosis/episodes.hpp>
#include <spotter/diagnosis/progress.hpp>
#include <spotter/diagnosis/update_sizes.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// The class labels seen so far.
struct class_range {
    double lowest = 0, highest = -1;

    [[nodiscard]] constexpr bool any() const noexcept { return lowest <= highest; }
    constexpr void add(double low, double high) noexcept {
        lowest = any() && lowest < low ? lowest : low;
        highest = highest > high ? highest : high;
    }
    // A loss of about the cross-entropy of a guess among them.
    [[nodiscard]] SPOTTER_STRICT constexpr bool is_guess(double loss) const noexcept {
        SPOTTER_STRICT_BODY
        double const guess = any() ? natural_log(highest - lowest + 1) : 0;
        return loss >= 0.7 * guess && loss <= 2 * guess && guess > 0;
    }
};

// All that is known of a run when a step closes. References to the diagnoser's members.
struct run_evidence {
    spotter::progress progress;
    progress_watch const& losses;
    episodes const& said;
    update_sizes const& weights;
    std::uint64_t close;       // the current one, from 1 on
    finding const* bad_value;  // where values that are not finite began, if they are new at this close
    class_range const& classes;
    diagnosis_limits const& limits;

    // The open episode of a rule (of one condition of it; 0: any); null where there is none.
    [[nodiscard]] constexpr episode const* held(rule_id rule, std::uint8_t condition = 0) const noexcept {
        return said.find(rule, condition);
    }
};

// The signs that are seen in a run.
[[nodiscard]] signs signs_of(run_evidence const& of) noexcept;

// Writes the finding of a cause: that of the first of its signs that is seen and has a finding. False where none has.
[[nodiscard]] bool finding_of(cause what, signs const& seen, run_evidence const& of, finding& into) noexcept;

// Writes the finding that names the cause, with the signs for it and against it. Where the table explains nothing
// (`best.first` is none), that is the loss itself, or the returns, or the most severe finding of this close.
[[nodiscard]] bool name_cause(run_evidence const& of, signs const& seen, ranked& best, finding& into) noexcept;

// A note on names: a gradient that pairs with no weight, or one name for the weights of two nets.
[[nodiscard]] bool names_are_wrong(update_sizes const& weights, step_id at, finding& into) noexcept;

// Whether no healthy run shows it: it is reported however well the run does.
[[nodiscard]] bool is_certain(finding const& it, diagnosis_limits const& limits) noexcept;

// Whether an input is far beyond the range of any normalised input.
[[nodiscard]] bool is_raw(finding const& it, diagnosis_limits const& limits) noexcept;

// Whether the weights alone show a fault, whatever the run does: no weight has ever moved, or by next to nothing (or by
// little, and the loss has hardly fallen), or they began too large.
[[nodiscard]] bool weights_are_wrong(update_sizes const& weights, progress_watch const& losses,
                                     class_range const& classes, progress now, diagnosis_limits const& limits,
                                     finding& into) noexcept;
// Whether all updates are too small on average, in a run that has gained little.
[[nodiscard]] bool updates_are_small(update_sizes const& weights, progress_watch const& losses, progress now,
                                     diagnosis_limits const& limits) noexcept;

// Whether every gradient is zero for fifty closes in a row, no weight moves by much, and the training loss is not zero.
[[nodiscard]] bool gradients_are_zero(update_sizes const& weights, progress_watch const& losses) noexcept;

// Whether weights have moved and none does any more (update_sizes::came_to_rest), though the training loss is not zero.
[[nodiscard]] bool weights_are_at_rest(update_sizes const& weights, progress_watch const& losses) noexcept;

// Whether there are classes and the training loss is below zero: from the first ten steps on; or later
// (`from_the_start` false), where some classes are below zero, too.
[[nodiscard]] bool is_below_zero(progress_watch const& losses, class_range const& classes,
                                 bool from_the_start) noexcept;

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/diagnosis/weight_causes.ipp>

#include <spotter/diagnosis/causes.ipp>
#endif
