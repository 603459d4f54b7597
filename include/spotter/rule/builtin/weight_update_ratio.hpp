// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): an update of a weight that is far too large or too small. docs/rules.md#weight_update_ratio
#pragma once

#include <spotter/rule/builtin/judging.hpp>
#include <spotter/rule/builtin/update_ratio.hpp>

namespace spotter::inline SPOTTER_ABI {

// The update ratio of a weight observed at steps r < s is ||W_s - W_r|| / (||W_r|| + epsilon) / (s - r), undefined
// where W_r is all zero; r is the previous observation. Warning when it is above `large_threshold` or below
// `small_threshold`, which includes a weight that did not change. Not judged where s - r is below `num_steps`. AWS
// publishes no formula; this is an interpretation. The band spans nine decades: use `update_ratio_band` in practice.
// Train steps only.
struct weight_update_ratio {
    using kind = rule_kind;
    static constexpr std::string_view name = "weight_update_ratio";
    static constexpr std::string_view remedy = "Scale the learning rate by target ratio over measured ratio.";
    static constexpr mode judged_in = mode::train;

    selector select = &select::weights;
    std::uint64_t num_steps = 1;    // smallest s - r; AWS WeightUpdateRatio
    double large_threshold = 10;    // AWS
    double small_threshold = 1e-8;  // AWS
    double epsilon = 1e-9;          // AWS
    bool per_step = true;           // divide by s - r, so that limits do not depend on how often the loop observes;
                                    // AWS: false

    [[nodiscard]] static constexpr weight_update_ratio sagemaker_defaults() noexcept { return {.per_step = false}; }

    static constexpr stats_mask watched = stats_mask::change;
    [[nodiscard]] constexpr judged_value judge(observation const& it) const noexcept {
        measurement const ratio = update_ratio_of(it, epsilon, per_step);
        if (!ratio.known || it.step.index - it.stats.previous_index < num_steps) { return {}; }
        return {ratio, ratio.value > large_threshold || ratio.value < small_threshold};
    }
    [[nodiscard]] constexpr finding tell(violation const& who) const noexcept {
        bool const large = who.measured > large_threshold;
        return who.as_finding(large ? "update is too large" : "update is too small", "update ratio",
                              large ? relation::greater : relation::less, large ? large_threshold : small_threshold);
    }
    [[nodiscard]] constexpr std::string_view silence() const noexcept {
        return "no two observations of a weight `num_steps` apart, the first not all zero";
    }
};

}  // namespace spotter::inline SPOTTER_ABI
