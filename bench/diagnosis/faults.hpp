// SPDX-License-Identifier: Apache-2.0
// What is broken on purpose: one change each, and which rules are accepted as its diagnosis.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace diagnosis {

enum class fault {
    none,
    large_rate,
    small_rate,
    zero_weights,
    constant_weights,
    large_weights,
    dead_biases,
    deep,
    climbs,
    piles_up,
    frozen,
    not_in_optimizer,
    shuffled_labels,
    raw_inputs,
    imbalanced,
    not_a_number,
    same_batch,
    no_activations,
    softmax_twice,
    noisy_labels,
    few_samples,
    negated_loss,
    not_clipped,
    zero_rate,
    backward_bug,
    one_net_climbs,
    precision,
    leaked_feature,
    too_deep,
    large_gradient,
};

// A rule, and a part of the reason that its finding has to give; empty: any reason.
struct symptom {
    std::string_view rule{}, reason{};
};

struct fault_info {
    fault what = fault::none;
    std::string_view name{};
    bool structural = false;  // counts as faulty however well the program trains
    std::array<symptom, 6> symptoms{};
};

inline constexpr std::array<fault_info, 29> faults{{
    {fault::large_rate,
     "learning rate x1000",
     false,
     {{{"learning_rate_too_large"},
       {"update_ratio_band", "large"},
       {"exploding_gradient"},
       {"loss_not_decreasing", "rises"}}}},
    {fault::small_rate,
     "learning rate x1e-6",
     false,
     {{{"learning_rate_too_small"},
       {"learning_rate_zero"},
       {"updates_too_small"},
       {"update_ratio_band", "small"},
       {"dead_update_path", "updates do not change it"},
       {"loss_not_decreasing", "flat"}}}},
    {fault::zero_weights,
     "zero initialisation",
     false,
     {{{"poor_weight_initialization"}, {"all_zero"}, {"dead_update_path", "no gradient arrives"}}}},
    {fault::constant_weights,
     "constant initialisation",
     false,
     {{{"poor_weight_initialization"}, {"tensor_variance"}}}},
    {fault::large_weights,
     "initial scale x20",
     false,
     {{{"initial_weights_too_large"}, {"saturated_activation"}, {"poor_weight_initialization"}}}},
    {fault::dead_biases,
     "hidden biases -10",
     false,
     {{{"dead_relu"}, {"all_zero"}, {"dormant_units"}, {"dead_update_path", "no gradient arrives"}}}},
    {fault::deep,
     "40 layers",
     false,
     {{{"vanishing_gradient"}, {"gradient_depth_ratio"}, {"poor_weight_initialization"}}}},
    {fault::climbs,
     "gradient sign flipped",
     true,
     {{{"update_direction"}, {"loss_not_decreasing", "rises"}, {"rl_policy_ascends"}}}},
    {fault::piles_up,
     "gradients not zeroed",
     true,
     {{{"gradient_not_cleared"}, {"oscillating_loss"}, {"update_ratio_band", "large"}}}},
    {fault::frozen,
     "one layer frozen",
     true,
     {{{"dead_update_path", "updates do not change it"}, {"dead_update_path", "it never changes"}}}},
    {fault::not_in_optimizer,
     "not in optimizer",
     true,
     {{{"dead_update_path", "it never changes"}, {"dead_update_path", "updates do not change it"}}}},
    {fault::shuffled_labels,
     "labels shuffled",
     false,
     {{{"no_better_than_guessing"},
       {"underfit"},
       {"loss_not_decreasing", "flat"},
       {"overfit"},
       {"output_collapse"},
       {"unrelated_predictions"}}}},
    {fault::raw_inputs, "inputs x255", true, {{{"input_not_normalized"}, {"rl_observation_range"}}}},
    {fault::imbalanced, "classes 99:1", true, {{{"class_imbalance"}}}},
    {fault::not_a_number, "NaN at a step", true, {{{"non_finite"}}}},
    {fault::same_batch, "same batch always", true, {{{"constant_batch"}, {"overfit"}}}},
    {fault::no_activations, "activations removed", true, {{{"identity_activation"}}}},
    {fault::softmax_twice, "softmax twice", true, {{{"output_mismatch"}}}},
    {fault::noisy_labels, "40 % label noise", false, {{{"label_noise"}, {"overfit"}, {"overtraining"}, {"underfit"}}}},
    {fault::few_samples, "20 samples", false, {{{"overfit"}, {"overtraining"}, {"constant_batch"}}}},
    {fault::negated_loss,
     "loss sign wrong",
     true,
     {{{"no_better_than_guessing"},
       {"loss_not_decreasing", "without bound"},
       {"update_direction"},
       {"initial_loss"},
       {"output_collapse"},
       {"unrelated_predictions"}}}},
    {fault::not_clipped,
     "clipping removed",
     false,
     {{{"gradient_spike"}, {"loss_spike"}, {"exploding_gradient"}, {"non_finite"}}}},
    {fault::zero_rate,
     "learning rate 0",
     false,
     {{{"learning_rate_zero"},
       {"learning_rate_too_small"},
       {"dead_update_path", "updates do not change it"},
       {"dead_update_path", "it never changes"},
       {"updates_too_small"},
       {"loss_not_decreasing", "flat"}}}},
    {fault::backward_bug,
     "backward stops at the last layer",
     true,
     {{{"dead_update_path", "no gradient arrives"}, {"vanishing_gradient"}, {"gradient_depth_ratio"}}}},
    {fault::one_net_climbs,
     "one of two nets climbs",
     true,
     {{{"update_direction"}, {"loss_not_decreasing", "rises"}, {"rl_policy_ascends"}}}},
    {fault::precision,
     "updates lost in half precision",
     false,
     {{{"bf16_stall"},
       {"dead_update_path", "updates do not change it"},
       {"updates_too_small"},
       {"update_ratio_band", "small"},
       {"loss_not_decreasing", "flat"}}}},
    {fault::leaked_feature, "a feature holds the label", true, {{{"feature_importance_overweight"}}}},
    {fault::too_deep, "trees too deep", false, {{{"tree_depth"}, {"overfit"}, {"overtraining"}}}},
    {fault::large_gradient,
     "gradient x1e5 once",
     false,
     {{{"gradient_spike"}, {"loss_spike"}, {"exploding_gradient"}}}},
}};

[[nodiscard]] inline fault_info const& info_of(fault what) noexcept {
    return faults[static_cast<std::size_t>(what) - 1];
}

// One training: which family, broken or not, in which of its healthy shapes, from which seed.
struct assignment {
    std::string family{};
    fault broken = fault::none;
    std::size_t variant = 0;
    std::uint64_t seed = 0;

    friend auto operator<=>(assignment const&, assignment const&) = default;
};

}  // namespace diagnosis
