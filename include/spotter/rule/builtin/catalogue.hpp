// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): all of them. docs/rules.md. Written by tools/rule_list.py out of rule/list.hpp.
#pragma once

#include <spotter/rule/list.hpp>

#include <spotter/rule/builtin/all_zero.hpp>
#include <spotter/rule/builtin/attention_collapse.hpp>
#include <spotter/rule/builtin/attention_one_position.hpp>
#include <spotter/rule/builtin/attention_similar_heads.hpp>
#include <spotter/rule/builtin/batch_size.hpp>
#include <spotter/rule/builtin/bf16_stall.hpp>
#include <spotter/rule/builtin/check_input_images.hpp>
#include <spotter/rule/builtin/class_imbalance.hpp>
#include <spotter/rule/builtin/confusion.hpp>
#include <spotter/rule/builtin/constant_batch.hpp>
#include <spotter/rule/builtin/cpu_bottleneck.hpp>
#include <spotter/rule/builtin/data_wait.hpp>
#include <spotter/rule/builtin/dataloader.hpp>
#include <spotter/rule/builtin/dead_relu.hpp>
#include <spotter/rule/builtin/dead_update_path.hpp>
#include <spotter/rule/builtin/dormant_units.hpp>
#include <spotter/rule/builtin/drift.hpp>
#include <spotter/rule/builtin/exploding_gradient.hpp>
#include <spotter/rule/builtin/exploding_tensor.hpp>
#include <spotter/rule/builtin/feature_importance_overweight.hpp>
#include <spotter/rule/builtin/gpu_memory_increase.hpp>
#include <spotter/rule/builtin/gradient_depth_ratio.hpp>
#include <spotter/rule/builtin/gradient_noise_scale.hpp>
#include <spotter/rule/builtin/gradient_not_cleared.hpp>
#include <spotter/rule/builtin/gradient_spike.hpp>
#include <spotter/rule/builtin/identity_activation.hpp>
#include <spotter/rule/builtin/initial_loss.hpp>
#include <spotter/rule/builtin/input_not_normalized.hpp>
#include <spotter/rule/builtin/io_bottleneck.hpp>
#include <spotter/rule/builtin/load_balancing.hpp>
#include <spotter/rule/builtin/loss_not_decreasing.hpp>
#include <spotter/rule/builtin/loss_spike.hpp>
#include <spotter/rule/builtin/low_feature_importance.hpp>
#include <spotter/rule/builtin/low_gpu_utilization.hpp>
#include <spotter/rule/builtin/low_precision_overflow.hpp>
#include <spotter/rule/builtin/max_initialization_time.hpp>
#include <spotter/rule/builtin/memory_leak.hpp>
#include <spotter/rule/builtin/mixed_precision.hpp>
#include <spotter/rule/builtin/nlp_sequence_ratio.hpp>
#include <spotter/rule/builtin/no_better_than_guessing.hpp>
#include <spotter/rule/builtin/noisy_neighbour.hpp>
#include <spotter/rule/builtin/non_finite.hpp>
#include <spotter/rule/builtin/oscillating_loss.hpp>
#include <spotter/rule/builtin/output_collapse.hpp>
#include <spotter/rule/builtin/output_mismatch.hpp>
#include <spotter/rule/builtin/outside_envelope.hpp>
#include <spotter/rule/builtin/overfit.hpp>
#include <spotter/rule/builtin/overtraining.hpp>
#include <spotter/rule/builtin/poor_weight_initialization.hpp>
#include <spotter/rule/builtin/pressure.hpp>
#include <spotter/rule/builtin/replica_divergence.hpp>
#include <spotter/rule/builtin/rl_clip_fraction.hpp>
#include <spotter/rule/builtin/rl_constant_reward.hpp>
#include <spotter/rule/builtin/rl_entropy_collapse.hpp>
#include <spotter/rule/builtin/rl_explained_variance.hpp>
#include <spotter/rule/builtin/rl_kl.hpp>
#include <spotter/rule/builtin/rl_observation_range.hpp>
#include <spotter/rule/builtin/rl_policy_ascends.hpp>
#include <spotter/rule/builtin/rl_repeated_states.hpp>
#include <spotter/rule/builtin/rl_target_network.hpp>
#include <spotter/rule/builtin/saturated_activation.hpp>
#include <spotter/rule/builtin/similar_across_runs.hpp>
#include <spotter/rule/builtin/stalled_training.hpp>
#include <spotter/rule/builtin/step_outlier.hpp>
#include <spotter/rule/builtin/step_time_outlier.hpp>
#include <spotter/rule/builtin/straggler.hpp>
#include <spotter/rule/builtin/tensor_variance.hpp>
#include <spotter/rule/builtin/tree_depth.hpp>
#include <spotter/rule/builtin/unchanged_tensor.hpp>
#include <spotter/rule/builtin/underfit.hpp>
#include <spotter/rule/builtin/unrelated_predictions.hpp>
#include <spotter/rule/builtin/update_direction.hpp>
#include <spotter/rule/builtin/update_ratio_band.hpp>
#include <spotter/rule/builtin/updates_too_small.hpp>
#include <spotter/rule/builtin/vanishing_gradient.hpp>
#include <spotter/rule/builtin/weight_update_ratio.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Calls use(rule) for each, with its defaults.
template <class Use>
constexpr void each_built_in_rule(Use&& use) {
#define SPOTTER_USE(which)                                                                                             \
    static_assert(rule_id_of<which> == rule_id::which, "a rule has the name of its struct");                           \
    use(which{});
    SPOTTER_EACH_RULE(SPOTTER_USE)
#undef SPOTTER_USE
}

}  // namespace spotter::inline SPOTTER_ABI::detail
