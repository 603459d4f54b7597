// SPDX-License-Identifier: Apache-2.0
// The bodies of packs.hpp.
#pragma once

#include <spotter/diagnosis/packs.hpp>

#include <spotter/diagnosis/diagnosed_pack.hpp>
#include <spotter/diagnosis/pack_rules.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

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

#if defined(SPOTTER_SEPARATE)
template any_machine* make_pack<pack_id::supervised>() noexcept;
template any_machine* make_pack<pack_id::rl>() noexcept;
template any_machine* make_pack<pack_id::boosting>() noexcept;
template any_machine* make_pack<pack_id::system>() noexcept;
template any_machine* make_pack<pack_id::sagemaker>() noexcept;
#endif

}  // namespace spotter::inline SPOTTER_ABI::detail
