// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): gradients too large, or no longer numbers. docs/rules.md#exploding_gradient
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/streaks.hpp>
#include <spotter/stat/statistic.hpp>

namespace spotter::inline SPOTTER_ABI {

// Error at once where a gradient has a non-finite element (and asks to skip the update); warning when the mean of |g| is
// above `max_mean_abs` for `patience` observations in a row. Train steps only.
struct exploding_gradient {
    using kind = rule_kind;
    static constexpr std::string_view name = "exploding_gradient";
    static constexpr std::string_view remedy = "Clip the global gradient norm and lower the learning rate.";
    static constexpr mode judged_in = mode::train;

    selector select = role::gradient;
    double max_mean_abs = 10;    // the limit of AWS's published custom-rule example
    std::uint64_t patience = 3;  // observations

    struct state {
        streaks large;
        close_answer answer;
        culprit not_finite;
    };

    [[nodiscard]] constexpr terms needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? terms::sum_abs | terms::nonfinite : terms::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        return seen.large.declare(tensor);
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        if (it.step.mode != mode::train) { return; }
        if (it.stats.nonfinite() > 0) { seen.not_finite.blame(it, static_cast<double>(it.stats.nonfinite())); }
        measurement const size = mean_abs(it.stats);
        truth const large = size.known ? truth_of(size.value > max_mean_abs) : truth::undecided;
        seen.answer.judged = seen.answer.judged || size.known;
        if (seen.large.count(it, large) >= patience && large == truth::yes) { seen.answer.found.blame(it, size.value); }
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        seen.large.next_close();
        culprit const not_finite = std::exchange(seen.not_finite, {});
        culprit large;
        truth const answer = seen.answer.take(large);
        if (not_finite.count > 0) {
            out.push(not_finite.as_not_finite("gradient is not finite"));
            return truth::yes;
        }
        if (answer == truth::yes) {
            finding it = large.as_finding("mean_abs", relation::greater, max_mean_abs, severity::warning);
            it.reason = "gradients explode";
            out.push(it);
        }
        return answer;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
