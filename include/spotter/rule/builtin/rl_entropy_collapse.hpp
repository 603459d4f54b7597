// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a policy that no longer explores. docs/rules.md#rl_entropy_collapse
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/metric_streak.hpp>
#include <spotter/rule/builtin/once_a_step.hpp>
#include <spotter/stat/statistic.hpp>

namespace spotter::inline SPOTTER_ABI {

// Fires when the entropy of the policy is below low * max_entropy for `patience` updates in a row: a warning within the first `early`
// updates, info later, when a good policy may well be sure of itself. Train steps only.
struct rl_entropy_collapse {
    using kind = rule_kind;
    static constexpr std::string_view name = "rl_entropy_collapse";
    static constexpr std::string_view remedy = "Raise the entropy coefficient.";
    static constexpr mode judged_in = mode::train;

    selector select = "metric/entropy";
    double max_entropy = 0;      // nats; ln A for A actions. Has to be given
    double low = 0.1;            // fraction of `max_entropy`
    std::uint64_t patience = 5;  // updates
    std::uint64_t early = 100;   // updates

    // For so many discrete actions.
    [[nodiscard]] static constexpr rl_entropy_collapse of_actions(std::uint64_t actions) noexcept {
        return {.max_entropy = natural_log(static_cast<double>(actions > 0 ? actions : 1))};
    }

    struct state {
        slots<std::uint64_t> updates;  // by tensor id
        once_a_step counted;
        metric_streak collapsed;
        bool is_early = false;  // some tensor that fires
    };

    [[nodiscard]] constexpr terms needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? metric_streak::needs : terms::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        return seen.updates.grow(tensor.id + std::size_t{1}) && seen.counted.declare(tensor) &&
               seen.collapsed.declare(tensor);
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        measurement const entropy = mean(it.stats);
        if (it.step.mode != mode::train || !entropy.known || !seen.updates.holds(it.tensor.id)) { return; }
        if (!(max_entropy > 0)) { return; }
        if (seen.counted.first(it)) { ++seen.updates[it.tensor.id]; }
        double const share = detail::quotient(entropy.value, max_entropy);
        bool const fires = seen.collapsed.judge(it, share, share < low, patience);
        seen.is_early = seen.is_early || (fires && seen.updates[it.tensor.id] <= early);
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        seen.counted.next_close();
        culprit found;
        truth const answer = seen.collapsed.close(found);
        bool const is_early = std::exchange(seen.is_early, false);
        if (answer == truth::yes) {
            finding it = found.as_finding("share of the largest entropy", relation::less, low,
                                          is_early ? severity::warning : severity::info);
            it.reason = "policy does not explore";
            out.push(it);
        }
        return answer;
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return max_entropy > 0 ? "matched, but nothing could be decided" : "parameter max_entropy not set";
    }
};

}  // namespace spotter::inline SPOTTER_ABI
