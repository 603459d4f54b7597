// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a critic that predicts worse than a constant. docs/rules.md#rl_explained_variance
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/metric_streak.hpp>
#include <spotter/rule/builtin/once_a_step.hpp>

namespace spotter::inline SPOTTER_ABI {

// Explained variance is 1 - Var(returns - values) / Var(returns). Warning when it is below 0 for `patience` updates in a row, after
// `warmup` of them. Where the returns are constant it is NaN: undecided. Where they hardly vary, as those of a policy that has
// learnt its task, it is noise: leave it out. Train steps only.
struct rl_explained_variance {
    using kind = rule_kind;
    static constexpr std::string_view name = "rl_explained_variance";
    static constexpr std::string_view remedy = "Check return scaling and the critic's learning rate.";
    static constexpr mode judged_in = mode::train;

    selector select = "metric/explained_variance";
    std::uint64_t warmup = 20;    // updates
    std::uint64_t patience = 10;  // updates

    struct state {
        slots<std::uint64_t> updates;  // by tensor id
        once_a_step counted;
        metric_streak negative;
    };

    [[nodiscard]] constexpr terms needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? metric_streak::needs : terms::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        return seen.updates.grow(tensor.id + std::size_t{1}) && seen.counted.declare(tensor) &&
               seen.negative.declare(tensor);
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        measurement const explained = mean(it.stats);
        if (it.step.mode != mode::train || !explained.known || !seen.updates.holds(it.tensor.id)) { return; }
        if (seen.counted.first(it)) { ++seen.updates[it.tensor.id]; }
        if (seen.updates[it.tensor.id] <= warmup) { return; }
        seen.negative.judge(it, explained.value, explained.value < 0, patience);
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        seen.counted.next_close();
        culprit found;
        truth const answer = seen.negative.close(found);
        if (answer == truth::yes) {
            finding it = found.as_finding("explained variance", relation::less, 0, severity::warning);
            it.reason = "critic is worse than a constant";
            out.push(it);
        }
        return answer;
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "warm-up not reached: no more than `warmup` updates";
    }
};

}  // namespace spotter::inline SPOTTER_ABI
