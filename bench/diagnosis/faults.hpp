// SPDX-License-Identifier: Apache-2.0
// What is broken on purpose: one change each, in which programs, and which rules are accepted as its diagnosis.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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
};

// A rule, and a part of the reason that its finding has to give; empty: any reason.
struct symptom {
    std::string_view rule{}, reason{};
};

struct fault_info {
    fault what = fault::none;
    std::string_view name{};
    std::string_view programs{};  // R mlp_reg, C mlp_cls, N cnn, A ac, D digits, B breast cancer
    bool structural = false;      // counts as faulty however well the program trains
    std::array<symptom, 6> symptoms{};
};

inline constexpr std::array<fault_info, 22> faults{{
    {fault::large_rate,
     "learning rate x1000",
     "RCNADB",
     false,
     {{{"update_ratio_band", "large"},
       {"exploding_gradient"},
       {"loss_spike"},
       {"loss_not_decreasing", "rises"},
       {"oscillating_loss"},
       {"non_finite"}}}},
    {fault::small_rate,
     "learning rate x1e-6",
     "RCNADB",
     false,
     {{{"updates_too_small"}, {"update_ratio_band", "small"}, {"loss_not_decreasing", "flat"}, {"underfit"}}}},
    {fault::zero_weights,
     "zero initialisation",
     "RCNADB",
     false,
     {{{"poor_weight_initialization"}, {"all_zero"}, {"dead_update_path", "no_gradient"}}}},
    {fault::constant_weights,
     "constant initialisation",
     "RCNADB",
     false,
     {{{"poor_weight_initialization"}, {"tensor_variance"}}}},
    {fault::large_weights,
     "initial scale x20, sigmoid",
     "RCNDB",
     false,
     {{{"saturated_activation"}, {"initial_loss"}, {"gradient_depth_ratio"}}}},
    {fault::dead_biases,
     "hidden biases -10",
     "RCNADB",
     false,
     {{{"dead_relu"}, {"all_zero"}, {"dormant_units"}, {"dead_update_path", "no_gradient"}}}},
    {fault::deep,
     "40 layers",
     "C",
     false,
     {{{"vanishing_gradient"}, {"gradient_depth_ratio"}, {"poor_weight_initialization"}}}},
    {fault::climbs,
     "gradient sign flipped",
     "RCNADB",
     true,
     {{{"update_direction"}, {"loss_not_decreasing", "rises"}, {"loss_spike"}}}},
    {fault::piles_up,
     "gradients not zeroed",
     "RCNADB",
     true,
     {{{"gradient_not_cleared"}, {"oscillating_loss"}, {"update_ratio_band", "large"}}}},
    {fault::frozen,
     "one layer frozen",
     "RCNADB",
     true,
     {{{"dead_update_path", "no_effect"}, {"dead_update_path", "not_in_optimizer"}}}},
    {fault::not_in_optimizer,
     "not in optimizer",
     "RCNADB",
     true,
     {{{"dead_update_path", "not_in_optimizer"}, {"dead_update_path", "no_effect"}}}},
    {fault::shuffled_labels,
     "labels shuffled",
     "RCNDB",
     false,
     {{{"underfit"}, {"loss_not_decreasing", "flat"}, {"overfit"}, {"output_collapse"}}}},
    {fault::raw_inputs, "inputs x255", "RCNADB", true, {{{"input_not_normalized"}, {"rl_observation_range"}}}},
    {fault::imbalanced, "classes 99:1", "CNDB", true, {{{"class_imbalance"}}}},
    {fault::not_a_number, "NaN at a step", "RCNADB", true, {{{"non_finite"}}}},
    {fault::same_batch, "same batch always", "RCNDB", true, {{{"constant_batch"}, {"overfit"}}}},
    {fault::no_activations, "activations removed", "CNDB", true, {{{"identity_activation"}}}},
    {fault::softmax_twice, "softmax twice", "CNDB", true, {{{"output_mismatch"}}}},
    {fault::noisy_labels, "40 % label noise", "CNDB", false, {{{"overfit"}, {"overtraining"}, {"underfit"}}}},
    {fault::few_samples, "20 samples", "RCNDB", false, {{{"overfit"}, {"overtraining"}, {"constant_batch"}}}},
    {fault::negated_loss,
     "loss sign wrong",
     "RCNADB",
     true,
     {{{"initial_loss"},
       {"output_collapse"},
       {"exploding_gradient"},
       {"update_ratio_band", "large"},
       {"saturated_activation"},
       {"non_finite"}}}},
    {fault::not_clipped,
     "clipping removed",
     "NA",
     false,
     {{{"gradient_spike"}, {"loss_spike"}, {"exploding_gradient"}, {"non_finite"}}}},
}};

// The same training, healthy, in five shapes.
enum class variant { base, other_optimizer, decaying_rate, wide_or_normalised, small_batch_dropout };
inline constexpr std::array<std::string_view, 5> variant_names{"base", "other optimizer", "decaying rate",
                                                               "batch norm or twice the width", "small batch, dropout"};

struct program_info {
    char letter = 0;
    std::string_view name{};
    bool real_data = false;
};
inline constexpr std::array<program_info, 6> programs{{{'R', "mlp_reg"},
                                                       {'C', "mlp_cls"},
                                                       {'N', "cnn"},
                                                       {'A', "ac"},
                                                       {'D', "digits", true},
                                                       {'B', "breast_cancer", true}}};

// One training: which program, broken or not, from which seed.
struct assignment {
    char program = 'R';
    fault broken = fault::none;
    variant shape = variant::base;
    std::uint64_t seed = 0;
};

inline constexpr std::uint64_t train_steps = 2000;
inline constexpr std::uint64_t eval_interval = 100;

}  // namespace diagnosis
