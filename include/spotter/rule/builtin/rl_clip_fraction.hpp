// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a policy update that is mostly clipped. docs/rules.md#rl_clip_fraction
#pragma once

#include <spotter/rule/builtin/judging.hpp>

namespace spotter::inline SPOTTER_ABI {

// Warning when the share of samples with a clipped probability ratio is above `limit` for `patience` updates in a row.
// Train steps only.
struct rl_clip_fraction {
    using kind = rule_kind;
    static constexpr std::string_view name = "rl_clip_fraction";
    static constexpr std::string_view remedy =
        "Stop the epoch early; lower the learning rate or the number of epochs per batch.";
    static constexpr mode judged_in = mode::train;

    selector select = "metric/clip_fraction";
    double limit = 0.5;          // fraction of the samples
    std::uint64_t patience = 5;  // updates

    static constexpr stats_mask watched = stats_mask::sum;
    [[nodiscard]] constexpr judged_value judge(observation const& it) const noexcept {
        measurement const clipped = mean(it.stats);
        return {clipped, clipped.value > limit};
    }
    [[nodiscard]] constexpr finding tell(violation const& who) const noexcept {
        return who.as_finding("most of the update is clipped", "clip fraction", relation::greater, limit);
    }
};

}  // namespace spotter::inline SPOTTER_ABI
