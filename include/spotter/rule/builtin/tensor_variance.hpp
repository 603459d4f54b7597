// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a tensor whose values vary too little or too much. docs/rules.md#tensor_variance
#pragma once

#include <spotter/rule/builtin/judging.hpp>

namespace spotter::inline SPOTTER_ABI {

// Warning when the population variance is below `min_threshold` or above `max_threshold` for `patience` observations in
// a row. A tensor with a single finite element is not judged. Train steps only.
struct tensor_variance {
    using kind = rule_kind;
    static constexpr std::string_view name = "tensor_variance";
    static constexpr std::string_view remedy =
        "Check that the tensor is meant to be constant; otherwise look at its producer.";
    static constexpr mode judged_in = mode::train;

    static constexpr double no_limit = 0x1.fffffffffffffp1023;  // for max_threshold; infinity works as well

    selector select = &select::weights;
    double min_threshold =
        1e-8;                   // 0: no limit. A residual projection of GPT-2 XL begins at 4.2e-6; AWS names no default
    double max_threshold = 10;  // AWS names no default
    std::uint64_t patience = 3;  // observations; AWS: 1

    [[nodiscard]] static constexpr tensor_variance sagemaker_defaults() noexcept {
        return {.min_threshold = 0, .max_threshold = no_limit, .patience = 1};
    }

    static constexpr stats_mask watched = needs_of(variance);
    [[nodiscard]] constexpr judged_value judge(observation const& it) const noexcept {
        measurement const spread = variance(it.stats);
        bool const known = is_set() && spread.known && is_finite(spread.value) && it.stats.finite() > 1;
        return known ? judged_value{spread.value, below(spread.value) || above(spread.value)} : judged_value{};
    }
    [[nodiscard]] constexpr finding tell(violation const& who) const noexcept {
        bool const alike = below(who.measured);
        return who.as_finding(alike ? "values are all alike" : "values are far apart", "variance",
                              alike ? relation::less : relation::greater, alike ? min_threshold : max_threshold);
    }
    [[nodiscard]] constexpr std::string_view silence() const noexcept {
        return is_set() ? "no tensor with two finite elements" : "parameter min_threshold not set, nor max_threshold";
    }

private:
    [[nodiscard]] constexpr bool is_set() const noexcept { return min_threshold > 0 || has_most(); }
    [[nodiscard]] constexpr bool has_most() const noexcept {
        return is_finite(max_threshold) && max_threshold < no_limit;
    }
    [[nodiscard]] constexpr bool below(double spread) const noexcept { return spread < min_threshold; }
    [[nodiscard]] constexpr bool above(double spread) const noexcept { return has_most() && spread > max_threshold; }
};

}  // namespace spotter::inline SPOTTER_ABI
