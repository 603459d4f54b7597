// SPDX-License-Identifier: Apache-2.0
// Diagnosis (L2): the cause of what the rules of a pack found: the signs that are seen, and the finding that tells it.
#pragma once

#include <spotter/diagnosis/cause_table.hpp>
#include <spotter/diagnosis/episodes.hpp>
#include <spotter/diagnosis/progress.hpp>
#include <spotter/diagnosis/update_sizes.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// A run as far as it is known when a step closes.
struct run_evidence {
    spotter::progress progress;
    progress_watch const& losses;
    episodes const& said;
    update_sizes const& weights;
    std::uint64_t close;       // the one at hand, from 1 on
    finding const* bad_value;  // where values that are no numbers began, if they are new at this close
    bool has_classes;          // labels are whole numbers: classes
    bool classes_below_zero;   // some of these are below zero, which no loss on classes expects
    diagnosis_limits const& limits;

    // What a rule says, as long as its episode lasts.
    [[nodiscard]] constexpr episode const* held(rule_id rule, std::uint8_t condition = 0) const noexcept {
        return said.find(rule, condition);
    }
};

// What is seen of it.
[[nodiscard]] signs signs_of(run_evidence const& of) noexcept;

// The finding of that cause by the first of its signs that is seen and has one. False where none has.
[[nodiscard]] bool finding_of(cause what, signs const& seen, run_evidence const& of, finding& into) noexcept;

// The finding that names the cause, with what speaks for it and against it; of a run that nothing in the table explains
// (`best.first` is none) the loss itself, or what leads among `said`. False where nothing was found.
[[nodiscard]] bool name_cause(run_evidence const& of, signs const& seen, ranked& best, finding& into) noexcept;

// What the weights say alone, whatever the run does: none has ever moved, or by next to nothing (or by little, and the
// loss has not either), or they began too large.
[[nodiscard]] bool weights_are_wrong(update_sizes const& weights, progress_watch const& losses,
                                     diagnosis_limits const& limits, finding& into) noexcept;

// There are such labels, and the training loss has been below zero from the first steps on; or it has come there.
[[nodiscard]] bool is_below_zero(progress_watch const& losses, bool classes, bool from_the_start) noexcept;

// What no healthy run shows: it is told however well the run does.
[[nodiscard]] bool is_certain(finding const& it, diagnosis_limits const& limits) noexcept;

// An input far beyond what any normalisation leaves.
[[nodiscard]] bool is_raw(finding const& it, diagnosis_limits const& limits) noexcept;

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/diagnosis/causes.ipp>
#endif
