// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a critic that predicts worse than a constant. docs/rules.md#rl_explained_variance
#pragma once

#include <spotter/rule/builtin/judging.hpp>

namespace spotter::inline SPOTTER_ABI {

// Explained variance is 1 - Var(returns - values) / Var(returns). Warning when it is below `least` for `patience`
// updates in a row, after `warmup` updates. A constant critic has 0, apart from rounding. With constant returns it is
// NaN: undecided. With returns that hardly vary, as those of a policy that has learnt its task, it is noise: leave the
// rule out. Train steps only.
struct rl_explained_variance {
    using kind = rule_kind;
    static constexpr std::string_view name = "rl_explained_variance";
    static constexpr std::string_view remedy = "Check return scaling and the critic's learning rate.";
    static constexpr mode judged_in = mode::train;

    selector select = "metric/explained_variance";
    double least = -0.05;         // explained variance
    std::uint64_t warmup = 20;    // updates
    std::uint64_t patience = 10;  // updates

    struct kept : once_a_step {
        std::uint64_t updates = 0;
    };
    static constexpr stats_mask watched = stats_mask::sum;
    [[nodiscard]] constexpr judged_value judge(kept& mine, observation const& it) const noexcept {
        measurement const explained = mean(it.stats);
        if (explained.known && mine.first()) { ++mine.updates; }
        return mine.updates > warmup ? judged_value{explained, explained.value < least} : judged_value{};
    }
    [[nodiscard]] constexpr finding tell(violation const& who) const noexcept {
        return who.as_finding("critic is worse than a constant", "explained variance", relation::less, least);
    }
    [[nodiscard]] constexpr std::string_view silence() const noexcept {
        return "warm-up not reached: no more than `warmup` updates";
    }
};

}  // namespace spotter::inline SPOTTER_ABI
