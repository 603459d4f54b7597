// SPDX-License-Identifier: Apache-2.0
// The bodies of packs.hpp: which rules are in which pack.
#pragma once

#include <spotter/diagnosis/packs.hpp>

#include <spotter/diagnosis/diagnosed_pack.hpp>
#include <spotter/rule/builtin/catalogue.hpp>
#include <spotter/rule/hidden_pack.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

template <rule... Rules>
void add(diagnosed_pack* to, Rules const&... rules) noexcept {
    if (to != nullptr) { (to->add(make_hidden(rules)), ...); }
}

// What goes wrong in any net that is trained by gradients.
template <class = only_where_called>
void add_any_net(diagnosed_pack* to) noexcept {
    add(to, non_finite{}, dead_update_path{.patience = 10}, input_not_normalized{}, constant_batch{}, dead_relu{},
        all_zero{}, saturated_activation{}, dormant_units{}, gradient_not_cleared{}, update_direction{},
        exploding_gradient{}, vanishing_gradient{}, gradient_spike{}, update_ratio_band{}, updates_too_small{},
        bf16_stall{}, output_collapse{}, stalled_training{});
}

template <pack_id Which>
hidden_machine* make_diagnosed_pack() noexcept {
    auto* const pack = new (std::nothrow) diagnosed_pack{Which != pack_id::rl};
    if constexpr (Which == pack_id::supervised) {
        add(pack, poor_weight_initialization{}, class_imbalance{}, no_better_than_guessing{.warmup = 150},
            output_mismatch{}, identity_activation{});
        add_any_net(pack);
        add(pack, loss_spike{}, oscillating_loss{}, underfit{}, overfit{}, overtraining{}, gradient_depth_ratio{},
            tensor_variance{}, unchanged_tensor{});
    } else if constexpr (Which == pack_id::boosting) {
        // Single trees lean on few features.
        add(pack, tree_depth{.depth = 8}, low_feature_importance{},
            feature_importance_overweight{.threshold = 0.9} | for_steps{20}, stalled_training{},
            overfit{.select = &select::boosting_losses}, overtraining{.select = &select::boosting_losses});
    } else {
        add(pack, poor_weight_initialization{.select = &select::weights});
        add_any_net(pack);
        add(pack, rl_kl{}, rl_explained_variance{}, rl_clip_fraction{}, rl_constant_reward{}, rl_observation_range{},
            rl_repeated_states{}, rl_target_network{});
    }
    return pack;
}
template <pack_id Which>
hidden_machine* make_plain_pack() noexcept {
    auto* const pack = new (std::nothrow) hidden_pack;
    if constexpr (Which == pack_id::system) {
        add_told_once(pack, data_wait{}, step_time_outlier{}, straggler{}, replica_divergence{});
    } else {
        add_told_once(pack, class_imbalance::sagemaker_defaults(), check_input_images::sagemaker_defaults(),
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

template <pack_id Which>
hidden_machine* make_pack() noexcept {
    if constexpr (Which == pack_id::supervised || Which == pack_id::rl || Which == pack_id::boosting) {
        return make_diagnosed_pack<Which>();
    } else {
        return make_plain_pack<Which>();
    }
}

#if defined(SPOTTER_SEPARATE)
template hidden_machine* make_pack<pack_id::supervised>() noexcept;
template hidden_machine* make_pack<pack_id::rl>() noexcept;
template hidden_machine* make_pack<pack_id::boosting>() noexcept;
template hidden_machine* make_pack<pack_id::system>() noexcept;
template hidden_machine* make_pack<pack_id::sagemaker>() noexcept;
#endif

}  // namespace spotter::inline SPOTTER_ABI::detail
