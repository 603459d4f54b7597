// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): gradients that are too large or not finite. docs/rules.md#exploding_gradient
#pragma once

#include <spotter/rule/builtin/judging.hpp>

namespace spotter::inline SPOTTER_ABI {

// Error at once where a gradient has a non-finite element; requests to skip the update. Warning when the mean of |g| is
// above `max_mean_abs` in `patience` observations in a row. Train steps only.
struct exploding_gradient {
    using kind = rule_kind;
    static constexpr std::string_view name = "exploding_gradient";
    static constexpr std::string_view remedy = "Clip the global gradient norm and lower the learning rate.";
    static constexpr mode judged_in = mode::train;

    selector select = role::gradient;
    double max_mean_abs = 10;    // the limit of AWS's published custom-rule example
    std::uint64_t patience = 3;  // observations

    static constexpr std::string_view not_finite = "gradient is not finite";
    static constexpr stats_mask watched = stats_mask::sum_abs | stats_mask::nonfinite;
    [[nodiscard]] constexpr judged_value judge(observation const& it) const noexcept {
        measurement const size = mean_abs(it.stats);
        return {size, size.value > max_mean_abs};
    }
    [[nodiscard]] constexpr finding tell(violation const& who) const noexcept {
        return who.as_finding("gradients explode", "mean_abs", relation::greater, max_mean_abs);
    }
};

}  // namespace spotter::inline SPOTTER_ABI
