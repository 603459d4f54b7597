// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): episodes that all end with the same return. docs/rules.md#rl_constant_reward
#pragma once

#include <spotter/rule/builtin/judging.hpp>

namespace spotter::inline SPOTTER_ABI {

// Every finite element of `metric/episode_return` is the return of one episode. Warning when all returns of the run are
// equal, once there are `episodes` of them. Judged at closes at which an episode ended. Train steps only.
struct rl_constant_reward {
    using kind = rule_kind;
    static constexpr std::string_view name = "rl_constant_reward";
    static constexpr std::string_view remedy =
        "Check the environment's reward, reset and observation scaling, or the target update.";
    static constexpr mode judged_in = mode::train;

    selector select = "metric/episode_return";
    std::uint64_t episodes = 20;  // before it judges

    struct returns {                     // of one observation: one return for each episode that ended
        std::uint64_t count = 0;         // finite returns
        double least = 0, greatest = 0;  // among those
    };
    struct kept {
        std::uint64_t count = 0;
        double least = 0, greatest = 0;
    };
    static constexpr stats_mask watched = stats_mask::range | stats_mask::nonfinite;
    [[nodiscard]] constexpr judged_value judge(kept& mine, observation const& it) const noexcept {
        measurement const least = minimum(it.stats), greatest = maximum(it.stats);
        if (!least.known) { return {}; }
        mine.least = mine.count == 0 || least.value < mine.least ? least.value : mine.least;
        mine.greatest = mine.count == 0 || greatest.value > mine.greatest ? greatest.value : mine.greatest;
        mine.count += it.stats.finite();
        return mine.count < episodes ? judged_value{} : judged_value{mine.least, mine.least == mine.greatest};
    }
    [[nodiscard]] constexpr finding tell(violation const& who) const noexcept {
        return who.as_finding("reward is constant", "return of every episode", relation::none, 0);
    }
    [[nodiscard]] constexpr std::string_view silence() const noexcept {
        return "warm-up not reached: fewer than `episodes` episodes";
    }
};

}  // namespace spotter::inline SPOTTER_ABI
