// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): episodes that all end with the same return. docs/rules.md#rl_constant_reward
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/streaks.hpp>
#include <spotter/stat/statistic.hpp>

namespace spotter::inline SPOTTER_ABI {

// Every finite element of `metric/episode_return` is the return of an episode. Warning when all of the run so far are the same number
// and there are at least `episodes` of them. Judged at closes at which an episode ended. Train steps only.
struct rl_constant_reward {
    using kind = rule_kind;
    static constexpr std::string_view name = "rl_constant_reward";
    static constexpr std::string_view remedy =
        "Check the environment's reward, reset and observation scaling, or the target update.";
    static constexpr mode judged_in = mode::train;

    selector select = "metric/episode_return";
    std::uint64_t episodes = 20;

    struct returns {
        std::uint64_t count = 0;
        double least = 0, greatest = 0;
    };
    struct state {
        slots<returns> all;  // by tensor id
        close_answer answer;
    };

    [[nodiscard]] constexpr terms needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? terms::range | terms::nonfinite : terms::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        return seen.all.grow(tensor.id + std::size_t{1});
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        measurement const least = minimum(it.stats), greatest = maximum(it.stats);
        if (it.step.mode != mode::train || !least.known || !seen.all.holds(it.tensor.id)) { return; }
        returns& mine = seen.all[it.tensor.id];
        mine.least = mine.count == 0 || least.value < mine.least ? least.value : mine.least;
        mine.greatest = mine.count == 0 || greatest.value > mine.greatest ? greatest.value : mine.greatest;
        mine.count += it.stats.finite();
        if (mine.count < episodes) { return; }
        seen.answer.judged = true;
        if (mine.least == mine.greatest) { seen.answer.found.blame(it, mine.least); }
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        culprit found;
        truth const answer = seen.answer.take(found);
        if (answer == truth::yes) {
            finding it = found.as_finding("return of every episode", relation::none, 0, severity::warning);
            it.reason = "reward is constant";
            out.push(it);
        }
        return answer;
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "warm-up not reached: fewer than `episodes` episodes";
    }
};

}  // namespace spotter::inline SPOTTER_ABI
