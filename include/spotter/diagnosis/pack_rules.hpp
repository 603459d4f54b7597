// SPDX-License-Identifier: Apache-2.0
// Diagnosis (L2): the rules of the packs that report one cause for what they find. docs/rules.md#packs
#pragma once

#include <spotter/diagnosis/built_in_pack.hpp>
#include <spotter/rule/builtin/catalogue.hpp>
#include <spotter/rule/hidden_pack.hpp>

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

}  // namespace spotter::inline SPOTTER_ABI::detail
