// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a policy update of which most is clipped. docs/rules.md#rl_clip_fraction
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/metric_streak.hpp>

namespace spotter::inline SPOTTER_ABI {

// Warning when the share of samples whose probability ratio was clipped is above `limit` for `patience` updates in a row. Train only.
struct rl_clip_fraction {
    using kind = rule_kind;
    static constexpr std::string_view name = "rl_clip_fraction";
    static constexpr std::string_view remedy =
        "Stop the epoch early; lower the learning rate or the number of epochs per batch.";
    static constexpr mode judged_in = mode::train;

    selector select = "metric/clip_fraction";
    double limit = 0.5;          // fraction of the samples
    std::uint64_t patience = 5;  // updates

    struct state {
        metric_streak large;
    };

    [[nodiscard]] constexpr terms needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? metric_streak::needs : terms::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        return seen.large.declare(tensor);
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        measurement const clipped = mean(it.stats);
        if (it.step.mode != mode::train || !clipped.known) { return; }
        seen.large.judge(it, clipped.value, clipped.value > limit, patience);
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        culprit found;
        truth const answer = seen.large.close(found);
        if (answer == truth::yes) {
            finding it = found.as_finding("clip fraction", relation::greater, limit, severity::warning);
            it.reason = "most of the update is clipped";
            out.push(it);
        }
        return answer;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
