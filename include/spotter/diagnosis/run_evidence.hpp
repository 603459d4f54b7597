// SPDX-License-Identifier: Apache-2.0
// Diagnosis (L2): everything that a cause may be told by.
#pragma once

#include <spotter/diagnosis/episodes.hpp>
#include <spotter/diagnosis/progress.hpp>
#include <spotter/diagnosis/update_sizes.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

struct run_evidence {
    spotter::progress progress;
    progress_watch const& losses;
    episodes const& said;
    update_sizes const& weights;
    std::uint64_t close;  // the one at hand, from 1 on
    bool dying;           // units, or gradients, have come to nothing

    // What a rule said within so many closes.
    static constexpr std::uint64_t recent = 200;
    [[nodiscard]] constexpr episode const* held(std::string_view rule, std::string_view reason = {}) const noexcept {
        return said.find(rule, reason, close > recent ? close - recent : 1);
    }
    // What it said at one of the first closes, before updates can have done much.
    [[nodiscard]] constexpr episode const* held_at_first(std::string_view rule, std::string_view reason = {}) const noexcept {
        episode const* const it = said.find(rule, reason, 1);
        return it != nullptr && it->ever_first <= 12 ? it : nullptr;
    }
    [[nodiscard]] constexpr bool ill() const noexcept {
        return progress == progress::flat || progress == progress::worsens ||
               (progress == progress::unknown && !losses.has_objective());
    }
};

// The finding that names the cause, with its own evidence; what leads among `said` where nothing else explains it. `known`: there is one.
[[nodiscard]] bool name_cause(run_evidence const& of, finding& into) noexcept;

}  // namespace spotter::inline SPOTTER_ABI::detail
