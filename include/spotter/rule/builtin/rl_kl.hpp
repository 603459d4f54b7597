// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a policy that moves too far in an update. docs/rules.md#rl_kl
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/metric_streak.hpp>

namespace spotter::inline SPOTTER_ABI {

// Warning when the approximate KL divergence of the new policy from the old is above factor * target for `patience` updates in a row;
// error at once (and asks to skip the update) where it is not finite. Train steps only.
struct rl_kl {
    using kind = rule_kind;
    static constexpr std::string_view name = "rl_kl";
    static constexpr std::string_view remedy =
        "Stop the epoch early; lower the learning rate or the number of epochs per batch.";
    static constexpr mode judged_in = mode::train;

    selector select = "metric/approx_kl";
    double target = 0.03;        // nats
    double factor = 1.5;         // times `target`; Stable-Baselines3 and SpinningUp stop the epoch there
    std::uint64_t patience = 3;  // updates

    // The target of SpinningUp's PPO.
    [[nodiscard]] static constexpr rl_kl strict() noexcept { return {.target = 0.01}; }

    struct state {
        metric_streak large;
        culprit not_finite;
    };

    [[nodiscard]] constexpr terms needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? metric_streak::needs | terms::nonfinite : terms::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        return seen.large.declare(tensor);
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        if (it.step.mode != mode::train) { return; }
        if (it.stats.nonfinite() > 0) { seen.not_finite.blame(it, static_cast<double>(it.stats.nonfinite())); }
        measurement const kl = mean(it.stats);
        if (kl.known) { seen.large.judge(it, kl.value, kl.value > limit(), patience); }
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        culprit found;
        truth const answer = seen.large.close(found);
        culprit const not_finite = std::exchange(seen.not_finite, {});
        if (not_finite.count > 0) {
            out.push(not_finite.as_not_finite("divergence is not finite"));
            return truth::yes;
        }
        if (answer == truth::yes) {
            finding it = found.as_finding("approximate KL", relation::greater, limit(), severity::warning);
            it.reason = "policy moves too far";
            out.push(it);
        }
        return answer;
    }

private:
    [[nodiscard]] SPOTTER_STRICT constexpr double limit() const noexcept {
        SPOTTER_STRICT_BODY
        return factor * target;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
