// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): gradients too small to move a weight. docs/rules.md#vanishing_gradient
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/loss_trend.hpp>
#include <spotter/rule/builtin/streaks.hpp>

namespace spotter::inline SPOTTER_ABI {

// Warning (info once training has settled) when the mean of |g| is below `threshold` for `patience` observations in a row of
// the same gradient. Zero counts as small. Observe gradients unscaled. Train steps only.
struct vanishing_gradient {
    using kind = rule_kind;
    static constexpr std::string_view name = "vanishing_gradient";
    static constexpr std::string_view remedy =
        "Use normalisation, residual connections or a non-saturating activation near the named layer.";
    static constexpr mode judged_in = mode::train;

    selector select = &select::weight_gradients;
    double threshold = 1e-7;     // AWS VanishingGradient
    std::uint64_t patience = 3;  // observations; lets zero-initialised output layers pass

    [[nodiscard]] static constexpr vanishing_gradient sagemaker_defaults() noexcept { return {.patience = 1}; }

    struct state {
        slots<bool> judged;  // by tensor id; the others are read for `settled`
        streaks small;
        close_answer answer;
        settled_context settled;
    };

    [[nodiscard]] constexpr terms needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? terms::sum_abs : terms::none;
    }
    [[nodiscard]] constexpr terms context(tensor_info const& tensor) const noexcept {
        return settled_context::needs(tensor);
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        if (!seen.judged.grow(tensor.id + std::size_t{1})) { return false; }
        seen.judged[tensor.id] = select(tensor);
        return seen.small.declare(tensor);
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        seen.settled.observe(it);
        if (it.step.mode != mode::train || !seen.judged.holds(it.tensor.id) || !seen.judged[it.tensor.id]) { return; }
        measurement const size = mean_abs(it.stats);
        truth const small = size.known ? truth_of(size.value < threshold) : truth::undecided;
        seen.answer.judged = seen.answer.judged || size.known;
        if (seen.small.count(it, small) >= patience && small == truth::yes) { seen.answer.found.blame(it, size.value); }
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        seen.small.next_close();
        culprit found;
        truth const answer = seen.answer.take(found);
        if (answer == truth::yes) {
            finding it =
                found.as_finding("mean_abs", relation::less, threshold, seen.settled.soften(severity::warning));
            it.reason = "gradients vanish";
            out.push(it);
        }
        return answer;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
