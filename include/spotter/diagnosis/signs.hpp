// SPDX-License-Identifier: Apache-2.0
// Diagnosis (L2): what is seen of a run when something has to be told, as yes or no, free of any program's units.
#pragma once

#include <spotter/core/fwd.hpp>

#include <cstdint>
#include <initializer_list>
#include <string_view>

// Each sign, and what it measures. A finding says its name, with spaces.
// clang-format off: a line each
#define SPOTTER_EACH_SIGN(of) \
    /* Values that are no numbers */ \
    of(bad_data) /* they began in an input, a label or a metric */ \
    of(bad_gradient_alone) /* they began in a gradient, behind a finite forward pass */ \
    of(one_bad_element) /* where they began it is one element of several */ \
    of(few_bad_elements) /* they began in less than a tenth of a gradient or a parameter */ \
    of(bad_values) /* there are some */ \
    /* The course of the run */ \
    of(loss_gets_worse) /* progress: worsens */ \
    of(loss_has_not_risen) /* the loss began above zero, and its latest are at most a tenth above the first */ \
    of(loss_stands_still) /* the loss has not stirred from where it began */ \
    of(loss_thrown_up) /* the mean of the first ten losses is twice the first */ \
    of(loss_rises_under_small_steps) /* it has risen from the start; no first update was a fifth of its weight */ \
    of(loss_below_zero) /* of labels that are classes the loss is below zero from the start */ \
    of(labels_below_zero) /* of labels that are classes some are below zero, and the loss has come there */ \
    of(loss_without_bottom) /* the loss began below zero and has more than doubled */ \
    of(eval_as_before) /* evaluation stays where training began */ \
    /* Updates beside their weights */ \
    of(most_weights_leapt) /* in one of the first updates more than half of the weights moved by half of themselves */ \
    of(some_weights_leapt) /* half of them or fewer */ \
    of(one_weight_leapt_far) /* one by ten times as much */ \
    of(most_weights_leap) /* lately more than half of the weights moved by a tenth of themselves at once */ \
    of(some_weights_leap) /* half of them or fewer */ \
    of(small_first_steps) /* no first update was a fifth of its weight */ \
    of(nothing_moves) /* no weight has ever moved, though something pulls */ \
    of(weights_came_to_rest) /* every weight has moved, and none for fifty observations */ \
    of(hardly_anything_moves) /* no weight has ever moved by more than next to nothing */ \
    of(nothing_to_gain) /* a step as long as the weights would not change the loss, as gradients have it */ \
    of(most_weights_climb) /* more than half of the weights go along their gradients */ \
    of(some_weights_climb) /* half of them or fewer */ \
    /* Weights and units at the beginning */ \
    of(weights_alike) /* poor_weight_initialization: matrices began with one value, and are no tables */ \
    of(large_weights) /* most weight matrices make what flows through them several times larger */ \
    of(dead_without_a_leap) /* nine tenths of a layer's units do nothing, and no first update was large */ \
    /* What rules say: of each a condition that holds */ \
    of(raw_input) /* input_not_normalized: a mean or a spread that no normalisation leaves */ \
    of(wide_input) /* input_not_normalized: five times what is allowed; rl_observation_range */ \
    of(dead_units) /* all_zero, dead_relu, dormant_units */ \
    of(saturated_units) /* saturated_activation */ \
    of(same_batch_at_every_step) /* constant_batch, where it is certain */ \
    of(repeated_batches) /* constant_batch */ \
    of(no_activation) /* identity_activation */ \
    of(output_does_not_match) /* output_mismatch */ \
    of(one_feature_tells_all) /* feature_importance_overweight */ \
    of(deep_trees) /* tree_depth */ \
    of(constant_reward) /* rl_constant_reward */ \
    of(policy_ascends) /* rl_policy_ascends */ \
    of(optimizer_ascends) /* update_direction */ \
    of(not_in_optimizer) /* dead_update_path: no gradient is known, and no change */ \
    of(updates_without_effect) /* dead_update_path: a gradient, and no change */ \
    of(no_gradient) /* dead_update_path: no gradient, while others have one */ \
    of(gradient_vanishes) /* vanishing_gradient */ \
    of(gradient_fades_with_depth) /* gradient_depth_ratio */ \
    of(gradient_holds_those_before) /* gradient_not_cleared: by its noise */ \
    of(gradients_pile_up) /* gradient_not_cleared: by their growth */ \
    of(guesses) /* no_better_than_guessing */ \
    of(predictions_unrelated) /* unrelated_predictions */ \
    of(classes_imbalanced) /* class_imbalance */ \
    of(eval_above_training) /* overfit */ \
    of(eval_rises) /* overtraining */ \
    of(updates_lost_in_bf16) /* bf16_stall */
// clang-format on

namespace spotter::inline SPOTTER_ABI::detail {

enum class sign : std::uint8_t {
#define SPOTTER_ENUMERATOR(which) which,
    SPOTTER_EACH_SIGN(SPOTTER_ENUMERATOR)
#undef SPOTTER_ENUMERATOR
        count
};

[[nodiscard]] constexpr std::string_view name_of(sign which) noexcept {
    constexpr std::string_view names[] = {
#define SPOTTER_NAME(which) #which,
        SPOTTER_EACH_SIGN(SPOTTER_NAME)
#undef SPOTTER_NAME
    };
    return names[static_cast<std::size_t>(which)];
}

// Those that are seen.
class signs {
public:
    constexpr signs() noexcept = default;
    constexpr signs(std::initializer_list<sign> all) noexcept {
        for (sign const each : all) { add(each); }
    }
    constexpr void add(sign it, bool seen = true) noexcept { bits_ |= seen ? mask_of(it) : 0; }
    [[nodiscard]] constexpr bool has(sign it) const noexcept { return (bits_ & mask_of(it)) != 0; }

private:
    static_assert(static_cast<int>(sign::count) <= 64);
    [[nodiscard]] static constexpr std::uint64_t mask_of(sign it) noexcept {
        return std::uint64_t{1} << static_cast<int>(it);
    }
    std::uint64_t bits_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI::detail
