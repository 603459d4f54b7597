// SPDX-License-Identifier: Apache-2.0
// Diagnosis (L2): the bodies of packs.hpp: the rules of each pack. docs/rules.md#packs
#pragma once

#include <spotter/diagnosis/diagnosed_pack.hpp>
#include <spotter/diagnosis/packs.hpp>
#include <spotter/rule/builtin/catalogue.hpp>
#include <spotter/rule/hidden_pack.hpp>

#include <new>

namespace spotter::inline SPOTTER_ABI::detail {

[[nodiscard]] constexpr bool is_diagnosed(pack_id it) noexcept {
    return it == pack_id::supervised || it == pack_id::rl || it == pack_id::boosting;
}
// Training is to make its loss fall. The loss of a policy is not such an objective.
[[nodiscard]] constexpr bool has_objective(pack_id it) noexcept { return it != pack_id::rl; }

template <rule... Rules>
void add(hidden_pack& to, Rules const&... rules) noexcept {
    (to.add(make_hidden(rules)), ...);
}

// All but the metrics that a policy's update is described by. They are ratios, logarithms and means that may have no
// value in a healthy run: of constant returns nothing is explained, no episode has a mean length, and where a
// probability underflows the divergence overflows. The return of an episode is data: a sum of rewards.
[[nodiscard]] constexpr bool always_finite(tensor_info const& tensor) noexcept {
    return tensor.role != role::metric || rl_constant_reward{}.select(tensor);
}

// Rules for any net that is trained by gradients.
template <class = only_where_called>
void add_any_net(hidden_pack& to, non_finite const& bad) noexcept {
    add(to, bad, dead_update_path{.patience = 10}, input_not_normalized{}, dead_relu{}, all_zero{},
        saturated_activation{}, dormant_units{}, gradient_not_cleared{}, update_direction{.hears_biases = true},
        exploding_gradient{}, vanishing_gradient{.patience = 10}, gradient_spike{}, update_ratio_band{},
        updates_too_small{}, bf16_stall{}, output_collapse{}, stalled_training{});
}

template <pack_id Which>
void add_rules(hidden_pack& pack) noexcept {
    static_assert(is_diagnosed(Which));
    if constexpr (Which == pack_id::supervised) {
        add(pack, poor_weight_initialization{}, class_imbalance{}, no_better_than_guessing{.warmup = 150},
            unrelated_predictions{}, label_noise{}, output_mismatch{}, identity_activation{}, constant_batch{});
        add_any_net(pack, non_finite{});
        add(pack, loss_spike{}, oscillating_loss{}, underfit{}, overfit{}, overtraining{}, gradient_depth_ratio{},
            tensor_variance{}, unchanged_tensor{});
    } else if constexpr (Which == pack_id::boosting) {
        // A single tree uses few features, and so do some tables. Trees that are grown for long learn their rows by
        // heart.
        add(pack, non_finite{.select = &select::outcomes}, tree_depth{.depth = 8}, low_feature_importance{},
            feature_importance_overweight{.threshold = 0.9} | for_steps{20} | severity::info, stalled_training{},
            overfit{.select = &select::boosting_losses, .min_rise = 0.05},
            overtraining{.select = &select::boosting_losses});
    } else {
        add(pack, poor_weight_initialization{.select = &select::weights});
        add_any_net(pack, non_finite{.select = &always_finite});
        // No constant_batch: an update may take a batch as often as it likes. rl_repeated_states asks whether episodes
        // end while the batch stays the same. A young critic follows returns that grow, and is late.
        add(pack, rl_kl{}, rl_explained_variance{.warmup = 100}, rl_clip_fraction{}, rl_constant_reward{},
            rl_observation_range{}, rl_repeated_states{}, rl_target_network{}, rl_policy_ascends{});
    }
}

template <pack_id Which>
any_machine* make_pack() noexcept {
    if constexpr (is_diagnosed(Which)) {
        diagnosis_limits limits;
        // Each round of boosting fits the rest of the one before: the first gains most, and there are no plateaus.
        if constexpr (Which == pack_id::boosting) { limits.progress.stirs_at_all = limits.progress.stirs; }
        auto* const pack = new (std::nothrow) diagnosed_pack{has_objective(Which), limits};
        if (pack != nullptr) { add_rules<Which>(*pack); }
        return pack;
    } else {
        auto* const pack = new (std::nothrow) hidden_pack;
        if constexpr (Which == pack_id::system) {
            add_with_cooldown(pack, data_wait{}, step_time_outlier{}, straggler{}, replica_divergence{},
                              max_initialization_time{}, cpu_bottleneck{}, io_bottleneck{}, low_gpu_utilization{},
                              gpu_memory_increase{}, load_balancing{}, batch_size{}, dataloader{}, memory_leak{},
                              pressure{}, noisy_neighbour{});
        } else {
            add_with_cooldown(pack, class_imbalance::sagemaker_defaults(), check_input_images::sagemaker_defaults(),
                              nlp_sequence_ratio::sagemaker_defaults(), loss_not_decreasing::sagemaker_defaults(),
                              overfit::sagemaker_defaults(), overtraining::sagemaker_defaults(),
                              confusion::sagemaker_defaults(), poor_weight_initialization::sagemaker_defaults(),
                              weight_update_ratio::sagemaker_defaults(), vanishing_gradient::sagemaker_defaults(),
                              exploding_tensor::sagemaker_defaults(), all_zero::sagemaker_defaults(),
                              tensor_variance::sagemaker_defaults(), unchanged_tensor::sagemaker_defaults(),
                              saturated_activation::sagemaker_defaults(), dead_relu::sagemaker_defaults(),
                              tree_depth::sagemaker_defaults(), feature_importance_overweight::sagemaker_defaults(),
                              stalled_training::sagemaker_defaults());
        }
        return pack;
    }
}

#if defined(SPOTTER_SEPARATE) && SPOTTER_BODIES
template any_machine* make_pack<pack_id::supervised>() noexcept;
template any_machine* make_pack<pack_id::rl>() noexcept;
template any_machine* make_pack<pack_id::boosting>() noexcept;
template any_machine* make_pack<pack_id::system>() noexcept;
template any_machine* make_pack<pack_id::sagemaker>() noexcept;
#endif

}  // namespace spotter::inline SPOTTER_ABI::detail
