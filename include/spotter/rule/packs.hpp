// SPDX-License-Identifier: Apache-2.0
// Rule (L2): the catalogue in packs, for a kind of training each. docs/rules.md#packs
#pragma once

#include <spotter/rule/adapt.hpp>
#include <spotter/rule/builtin/catalogue.hpp>
#include <spotter/rule/rule_pack.hpp>

namespace spotter::inline SPOTTER_ABI {

// A pack is a rule: `hook{"runs/a", keep, packs::supervised || loss_above_target}`. Each of its rules tells an episode once, and
// nothing more for 100 closes.
namespace packs {

namespace detail {

template <rule Rule>
[[nodiscard]] constexpr auto told_once(Rule which) noexcept {
    return which | rearm{10} | cooldown{100};
}
template <rule... Rules>
[[nodiscard]] constexpr auto of(Rules... rules) noexcept {
    return together(told_once(rules)...);
}

// What goes wrong in any net that is trained by gradients.
inline constexpr auto any_net =
    of(non_finite{}, dead_update_path{}, input_not_normalized{}, constant_batch{}, dead_relu{}, all_zero{},
       saturated_activation{}, dormant_units{}, gradient_not_cleared{}, update_direction{}, exploding_gradient{},
       vanishing_gradient{}, gradient_spike{}, update_ratio_band{}, updates_too_small{}, bf16_stall{},
       output_collapse{}, stalled_training{});

}  // namespace detail

// A net that is fitted to labels or targets. `initial_loss` joins it by hand, with the loss that an untrained net should have:
// `packs::supervised || initial_loss{.expected = initial_loss::cross_entropy(10)}`.
inline constexpr auto supervised =
    together(detail::of(poor_weight_initialization{}, class_imbalance{}, output_mismatch{}, identity_activation{}),
             detail::any_net,
             detail::of(loss_not_decreasing{}, loss_spike{}, oscillating_loss{}, underfit{}, overfit{}, overtraining{},
                        gradient_depth_ratio{}, tensor_variance{}, unchanged_tensor{}));

// Reinforcement learning: a policy's loss is no objective, so the rules on losses are not in it. `rl_entropy_collapse` joins it by hand, with
// the entropy of a policy that knows nothing: `packs::rl || rl_entropy_collapse{.max_entropy = 0.693}`. poor_weight_initialization looks
// at the weights alone: its other conditions ask of the loss.
inline constexpr auto rl =
    together(detail::of(poor_weight_initialization{.select = &select::weights}), detail::any_net,
             detail::of(rl_kl{}, rl_explained_variance{}, rl_clip_fraction{}, rl_constant_reward{},
                        rl_observation_range{}, rl_repeated_states{}, rl_target_network{}));

// Boosted trees.
inline constexpr auto boosting =
    detail::of(tree_depth{}, low_feature_importance{}, feature_importance_overweight{}, stalled_training{});

// The machine that trains, from what the loop says of it: `time/step`, `time/wait`; its workers held against each other in a
// replay_side_by_side.
inline constexpr auto system = detail::of(data_wait{}, step_time_outlier{}, straggler{}, replica_divergence{});

// The rules of Amazon SageMaker Debugger with its values.
inline constexpr auto sagemaker = detail::of(
    class_imbalance::sagemaker_defaults(), check_input_images::sagemaker_defaults(),
    nlp_sequence_ratio::sagemaker_defaults(), loss_not_decreasing::sagemaker_defaults(), overfit::sagemaker_defaults(),
    overtraining::sagemaker_defaults(), confusion::sagemaker_defaults(),
    poor_weight_initialization::sagemaker_defaults(), weight_update_ratio::sagemaker_defaults(),
    vanishing_gradient::sagemaker_defaults(), exploding_tensor::sagemaker_defaults(), all_zero::sagemaker_defaults(),
    tensor_variance::sagemaker_defaults(), unchanged_tensor::sagemaker_defaults(),
    saturated_activation::sagemaker_defaults(), dead_relu::sagemaker_defaults(), tree_depth::sagemaker_defaults(),
    feature_importance_overweight::sagemaker_defaults(), stalled_training::sagemaker_defaults());

}  // namespace packs

}  // namespace spotter::inline SPOTTER_ABI
