// SPDX-License-Identifier: Apache-2.0
// Ext (L6), part of ext/json/rules.hpp: the catalogue and the packs by their names.
#pragma once

#include <spotter/ext/json/members.hpp>
#include <spotter/rules.hpp>

#include <string_view>

namespace spotter::inline SPOTTER_ABI::detail {

template <>
inline constexpr std::size_t member_count<nlp_sequence_ratio> = 5;

template <class... Rules>
struct rule_list {};

using built_in_rules = rule_list<
    all_zero, attention_collapse, attention_one_position, attention_similar_heads, batch_size, bf16_stall,
    check_input_images, class_imbalance, confusion, constant_batch, cpu_bottleneck, data_wait, dataloader, dead_relu,
    dead_update_path, dormant_units, drift, exploding_gradient, exploding_tensor, feature_importance_overweight,
    gpu_memory_increase, gradient_depth_ratio, gradient_noise_scale, gradient_not_cleared, gradient_spike,
    identity_activation, initial_loss, input_not_normalized, io_bottleneck, load_balancing, loss_not_decreasing,
    loss_spike, low_feature_importance, low_gpu_utilization, low_precision_overflow, max_initialization_time,
    memory_leak, mixed_precision, nlp_sequence_ratio, no_better_than_guessing, noisy_neighbour, non_finite,
    oscillating_loss, output_collapse, output_mismatch, outside_envelope, overfit, overtraining,
    poor_weight_initialization, pressure, replica_divergence, rl_clip_fraction, rl_constant_reward, rl_entropy_collapse,
    rl_explained_variance, rl_kl, rl_observation_range, rl_policy_ascends, rl_repeated_states, rl_target_network,
    saturated_activation, similar_across_runs, stalled_training, step_outlier, step_time_outlier, straggler,
    tensor_variance, tree_depth, unchanged_tensor, underfit, unrelated_predictions, update_direction, update_ratio_band,
    updates_too_small, vanishing_gradient, weight_update_ratio>;

// Calls use(rule) for each, with its defaults.
template <class Use>
void each_built_in_rule(Use&& use) {
    [&]<class... Rules>(rule_list<Rules...>) { (use(Rules{}), ...); }(built_in_rules{});
}
// Calls use(name, pack) for each.
template <class Use>
void each_pack(Use&& use) {
    use(std::string_view{"supervised"}, packs::supervised);
    use(std::string_view{"rl"}, packs::rl);
    use(std::string_view{"boosting"}, packs::boosting);
    use(std::string_view{"system"}, packs::system);
    use(std::string_view{"sagemaker"}, packs::sagemaker);
}

}  // namespace spotter::inline SPOTTER_ABI::detail
