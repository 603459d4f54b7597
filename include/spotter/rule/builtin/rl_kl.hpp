// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a policy that changes too much in an update. docs/rules.md#rl_kl
#pragma once

#include <spotter/rule/builtin/judging.hpp>

namespace spotter::inline SPOTTER_ABI {

// Warning when the approximate KL divergence of the new policy from the old is above factor * target for `patience`
// updates in a row. Error at once where it is not finite; requests to skip the update. Train steps only.
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

    static constexpr std::string_view not_finite = "divergence is not finite";
    static constexpr stats_mask watched = stats_mask::sum | stats_mask::nonfinite;
    [[nodiscard]] constexpr judged_value judge(observation const& it) const noexcept {
        measurement const kl = mean(it.stats);
        return {kl, kl.value > limit()};
    }
    [[nodiscard]] constexpr finding tell(violation const& who) const noexcept {
        return who.as_finding("policy moves too far", "approximate KL", relation::greater, limit());
    }

private:
    [[nodiscard]] SPOTTER_STRICT constexpr double limit() const noexcept {
        SPOTTER_STRICT_BODY
        return factor * target;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
