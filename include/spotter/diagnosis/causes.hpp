// SPDX-License-Identifier: Apache-2.0
// Diagnosis (L2): what explains what: the cause of what the rules of a pack found, and everything that it may be told
// by.
#pragma once

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
    std::uint64_t close;  // the one at hand, from 1 on
    bool dying;           // units, or gradients, have come to nothing
    bool bad_value;       // a value that is no number was found at this close
    bool has_classes;     // labels are whole numbers: classes
    diagnosis_limits const& limits;

    // What a rule said within so many closes.
    static constexpr std::uint64_t recent = 200;
    [[nodiscard]] constexpr episode const* held(rule_id rule, std::uint8_t condition = 0) const noexcept {
        return said.find(rule, condition, close > recent ? close - recent : 1);
    }
    // By that condition: `held<dead_update_path>(dead_update_path::no_effect)`.
    template <class Rule>
    [[nodiscard]] constexpr episode const* held(typename Rule::condition which) const noexcept {
        return held(rule_id_of<Rule>, static_cast<std::uint8_t>(which));
    }
    // What it said at one of the first closes, before updates can have done much.
    [[nodiscard]] constexpr episode const* held_at_first(rule_id rule, std::uint8_t condition = 0) const noexcept {
        episode const* const it = said.find(rule, condition, 1);
        return it != nullptr && it->ever_first <= 12 ? it : nullptr;
    }
    [[nodiscard]] constexpr bool ill() const noexcept {
        return progress == progress::flat || progress == progress::worsens ||
               (progress == progress::unknown && !losses.has_objective());
    }
};

// The finding that names the cause, with its own evidence: the first that holds, in the order in which causes explain
// each other; what leads among `said` where nothing else explains it. False where nothing was found.
[[nodiscard]] bool name_cause(run_evidence const& of, finding& into) noexcept;

// What the weights say alone, whatever the run does: none has ever moved, or by next to nothing (or by little, and the
// loss has not either), or they began too large.
[[nodiscard]] bool weights_are_wrong(update_sizes const& weights, progress_watch const& losses,
                                     diagnosis_limits const& limits, finding& into) noexcept;

// The training loss has been below zero from the first steps on.
[[nodiscard]] bool is_below_zero(progress_watch const& losses) noexcept;

// Every weight matrix, of two at least, began with one value in all its elements: the units of a layer stay alike.
[[nodiscard]] bool is_symmetric(episode const& it, update_sizes const& weights) noexcept;

// What no healthy run shows: it is told however well the run does.
[[nodiscard]] bool is_certain(finding const& it, diagnosis_limits const& limits) noexcept;

// An input far beyond what any normalisation leaves.
[[nodiscard]] bool is_raw(finding const& it, diagnosis_limits const& limits) noexcept;

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/diagnosis/causes.ipp>
#endif
