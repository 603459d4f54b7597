// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): gradients too small to move a weight. docs/rules.md#vanishing_gradient
#pragma once

#include <spotter/rule/builtin/judging.hpp>

namespace spotter::inline SPOTTER_ABI {

// Warning (note once training has settled) when the mean of |g| is below `threshold` for `patience` observations in a
// row of the same gradient. Zero counts as small. Observe gradients unscaled. Train steps only.
struct vanishing_gradient {
    using kind = rule_kind;
    static constexpr std::string_view name = "vanishing_gradient";
    static constexpr std::string_view remedy =
        "Use normalisation, residual connections or a non-saturating activation near the named layer.";
    static constexpr mode judged_in = mode::train;

    selector select = &select::weight_gradients;
    double threshold = 1e-7;     // AWS VanishingGradient
    std::uint64_t patience = 3;  // observations; allows for zero-initialised output layers

    [[nodiscard]] static constexpr vanishing_gradient sagemaker_defaults() noexcept { return {.patience = 1}; }

    static constexpr bool softens = true;
    static constexpr stats_mask watched = stats_mask::sum_abs;
    [[nodiscard]] constexpr judged_value judge(observation const& it) const noexcept {
        measurement const size = mean_abs(it.stats);
        return {size, size.value < threshold};
    }
    [[nodiscard]] constexpr finding tell(violation const& who) const noexcept {
        return who.as_finding("gradients vanish", "mean_abs", relation::less, threshold);
    }
};

}  // namespace spotter::inline SPOTTER_ABI
