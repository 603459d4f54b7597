// SPDX-License-Identifier: Apache-2.0
// Diagnosis (L2): what is seen in a run when a cause has to be named: signs that are true or false, without units.
#pragma once

#include <spotter/core/fwd.hpp>

#include <cstdint>
#include <initializer_list>
#include <string_view>

// Each sign, and what it measures. A finding prints a sign's name with spaces for underscores.
// clang-format off: a line each
#define SPOTTER_EACH_SIGN(of) \
    /* Values that are not finite */ \
    of(bad_data) /* they began in an input, a label or a metric */ \
    of(bad_gradient_alone) /* they began in a gradient, behind a finite forward pass */ \
    of(one_bad_element) /* where they began it is one element of several */ \
    of(bad_values) /* there are such values */ \
    /* The course of the run */ \
    of(loss_gets_worse) /* its progress is `worsens` */ \
    of(loss_rises_again) /* it improved before, and its last third is above the first */ \
    of(loss_has_not_risen) /* the loss began above zero, and its latest are at most a tenth above the first */ \
    of(loss_rests) /* its progress is `flat`, and loss_has_not_risen; no units died or saturate */ \
    of(loss_rises_under_small_steps) /* from the start, after small first updates; or later without a leap */ \
    of(weights_move_one_way) /* half of the weights or more, while the loss rises from the start */ \
    of(loss_below_zero) /* the labels are classes, and the loss is below zero from the start */ \
    of(labels_below_zero) /* some class labels are below zero, and the loss has fallen below zero */ \
    of(loss_without_bottom) /* the loss began below zero, and is more than ten times as far below */ \
    of(eval_as_before) /* training improves; evaluation stays where training began, or rises */ \
    /* Updates relative to their weights */ \
    of(most_weights_leapt) /* at first half of them moved by half of themselves, or from zero; no fall of the loss */ \
    of(most_weights_leap) /* lately more than half of them moved by a tenth at once; or do so on average of 500 */ \
    of(most_weights_leapt_later) /* later, most weights moved by half of themselves; no rise of the loss */ \
    of(one_gradient_jumped) /* the same, by a gradient of 100 times the largest before; or all gains are lost */ \
    of(weights_overflowed) /* some elements of a weight are not finite, and the others grew a hundredfold at once */ \
    of(nothing_moves) /* no weight has ever moved; not where all gradients are zero */ \
    of(weights_came_to_rest) /* all have moved, and none for fifty observations; or half now, and dead_update_path */ \
    of(hardly_anything_moves) /* no weight has ever moved by more than next to nothing, or by enough to learn */ \
    of(nothing_to_gain) /* by the gradients, a step as long as the weights would not change the loss */ \
    of(most_weights_shrank) /* more than half of the weights are half of what they began as, or less */ \
    of(most_weights_climb) /* more than half of the weights move along their gradients */ \
    of(some_weights_climb) /* half of them or fewer */ \
    of(some_keep_climbing) /* they have done so for fifty closes */ \
    /* Weights and units at the beginning */ \
    of(weights_alike) /* poor_weight_initialization: matrices other than tables began with one value */ \
    of(weights_next_to_zero) /* all weight matrices began so small that hardly a signal passes them */ \
    of(large_weights) /* most weight matrices multiply the size of their signals several times */ \
    of(dead_without_a_leap) /* nine tenths of a layer are dead or saturated from the beginning; no leap did that */ \
    of(units_died) /* all_zero: no unit of a layer is active any more; or all_gradients_zero, after a leap */ \
    of(weights_rest_at_zero) /* most weights began at zero and never moved, and no gradient pulls them */ \
    /* Findings of rules: the named rule holds */ \
    of(raw_input) /* input_not_normalized: no normalised input has such a mean or spread */ \
    of(tiny_input) /* input_not_normalized: no value of it reaches a tenth of the least spread */ \
    of(wide_input) /* input_not_normalized: five times its limit; rl_observation_range */ \
    of(dead_units) /* all_zero, dead_relu, dormant_units */ \
    of(saturated_units) /* saturated_activation */ \
    of(batches_again) /* constant_batch: one batch at every step, or the same few in turn */ \
    of(no_activation) /* identity_activation */ \
    of(output_does_not_match) /* output_mismatch */ \
    of(one_feature_tells_all) /* feature_importance_overweight */ \
    of(deep_trees) /* tree_depth */ \
    of(constant_reward) /* rl_constant_reward */ \
    of(policy_ascends) /* rl_policy_ascends */ \
    of(optimizer_ascends) /* update_direction */ \
    of(not_in_optimizer) /* dead_update_path: the gradient is unknown, and the parameter does not change */ \
    of(updates_without_effect) /* dead_update_path: the parameter has a gradient, and has never changed */ \
    of(updates_undone) /* dead_update_path: a weight has its first values again, for the third time */ \
    of(no_gradient) /* dead_update_path: the gradient is zero or absent, while others are not */ \
    of(all_gradients_zero) /* every gradient is zero for fifty closes, and the loss is not */ \
    of(gradient_vanishes) /* vanishing_gradient */ \
    of(gradient_fades_with_depth) /* gradient_depth_ratio */ \
    of(gradient_holds_those_before) /* gradient_not_cleared: shown by the noise of the gradient */ \
    of(gradients_pile_up) /* gradient_not_cleared: shown by the growth of gradients */ \
    of(gradients_change_little) /* gradient_not_cleared: most have 30 times the squared norm of their change */ \
    of(guesses) /* no_better_than_guessing, unrelated_predictions */ \
    of(predictions_opposed) /* unrelated_predictions: they run against their targets */ \
    of(labels_contradict) /* label_noise */ \
    of(unmixed_batches) /* class_imbalance: a batch has labels of one class */ \
    of(classes_imbalanced) /* class_imbalance: one class has most of the labels, or all, or is mispredicted */ \
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

// The set of signs that are seen.
class signs {
public:
    constexpr signs() noexcept = default;
    constexpr signs(std::initializer_list<sign> all) noexcept {
        for (sign const each : all) { add(each); }
    }
    constexpr void add(sign it, bool seen = true) noexcept { bits_ |= seen ? mask_of(it) : 0; }
    [[nodiscard]] constexpr bool has(sign it) const noexcept { return (bits_ & mask_of(it)) != 0; }
    [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }

private:
    static_assert(static_cast<int>(sign::count) <= 64);
    [[nodiscard]] static constexpr std::uint64_t mask_of(sign it) noexcept {
        return std::uint64_t{1} << static_cast<int>(it);
    }
    std::uint64_t bits_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI::detail
