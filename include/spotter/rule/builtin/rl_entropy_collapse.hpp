// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a policy that no longer explores. docs/rules.md#rl_entropy_collapse
#pragma once

#include <spotter/rule/builtin/judging.hpp>

namespace spotter::inline SPOTTER_ABI {

// Fires when the entropy of the policy is below low * max_entropy for `patience` updates in a row. A warning within the
// first `early` updates; later a note, since a good policy may be certain. Train steps only.
struct rl_entropy_collapse {
    using kind = rule_kind;
    static constexpr std::string_view name = "rl_entropy_collapse";
    static constexpr std::string_view remedy = "Raise the entropy coefficient.";
    static constexpr mode judged_in = mode::train;

    selector select = "metric/entropy";
    double max_entropy = 0;      // nats; ln A for A actions; required
    double low = 0.1;            // fraction of `max_entropy`
    std::uint64_t patience = 5;  // updates
    std::uint64_t early = 100;   // updates

    // For that many discrete actions.
    [[nodiscard]] static constexpr rl_entropy_collapse of_actions(std::uint64_t actions) noexcept {
        return {.max_entropy = natural_log(static_cast<double>(actions > 0 ? actions : 1))};
    }

    struct kept : once_a_step {
        std::uint64_t updates = 0;
    };
    // The policy's entropy as a share of the largest.
    struct share : judged_value {
        bool is_early = false;  // a policy should still explore: a warning; else a note
        // If several tensors fire at one close, one early one makes it a warning.
        constexpr void join(share const& other) noexcept { is_early = is_early || other.is_early; }
    };
    static constexpr stats_mask watched = stats_mask::sum;
    [[nodiscard]] constexpr share judge(kept& mine, observation const& it) const noexcept {
        measurement const entropy = mean(it.stats);
        if (!entropy.known || !(max_entropy > 0)) { return {}; }
        if (mine.first()) { ++mine.updates; }
        double const found = detail::quotient(entropy.value, max_entropy);
        return {judged_value{found, found < low}, mine.updates <= early};
    }
    [[nodiscard]] constexpr finding tell(violation const& who, share const& first) const noexcept {
        return who.as_finding("policy does not explore", "share of the largest entropy", relation::less, low,
                              first.is_early ? severity::warning : severity::info);
    }
    [[nodiscard]] constexpr std::string_view silence() const noexcept {
        return max_entropy > 0 ? "matched, but nothing could be decided" : "parameter max_entropy not set";
    }
};

}  // namespace spotter::inline SPOTTER_ABI
