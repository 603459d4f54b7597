// SPDX-License-Identifier: Apache-2.0
// Rule (L2): the one list of rules. Code that visits all rules, or identifies one, is generated from it. For a new rule
// add a line here, the header builtin/<rule>.hpp and a section of docs/rules.md. `python3 tools/rule_list.py --write`
// then writes builtin/catalogue.hpp and reports what is missing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

// clang-format off: one line each, in alphabetical order
#define SPOTTER_EACH_RULE(of)                  \
    of(all_zero)                               \
    of(attention_collapse)                     \
    of(attention_one_position)                 \
    of(attention_similar_heads)                \
    of(batch_size)                             \
    of(bf16_stall)                             \
    of(check_input_images)                     \
    of(class_imbalance)                        \
    of(confusion)                              \
    of(constant_batch)                         \
    of(cpu_bottleneck)                         \
    of(data_wait)                              \
    of(dataloader)                             \
    of(dead_relu)                              \
    of(dead_update_path)                       \
    of(dormant_units)                          \
    of(drift)                                  \
    of(exploding_gradient)                     \
    of(exploding_tensor)                       \
    of(feature_importance_overweight)          \
    of(gpu_memory_increase)                    \
    of(gradient_depth_ratio)                   \
    of(gradient_noise_scale)                   \
    of(gradient_not_cleared)                   \
    of(gradient_spike)                         \
    of(identity_activation)                    \
    of(initial_loss)                           \
    of(input_not_normalized)                   \
    of(io_bottleneck)                          \
    of(label_noise)                            \
    of(load_balancing)                         \
    of(loss_not_decreasing)                    \
    of(loss_spike)                             \
    of(low_feature_importance)                 \
    of(low_gpu_utilization)                    \
    of(low_precision_overflow)                 \
    of(max_initialization_time)                \
    of(memory_leak)                            \
    of(mixed_precision)                        \
    of(nlp_sequence_ratio)                     \
    of(no_better_than_guessing)                \
    of(noisy_neighbour)                        \
    of(non_finite)                             \
    of(oscillating_loss)                       \
    of(output_collapse)                        \
    of(output_mismatch)                        \
    of(outside_envelope)                       \
    of(overfit)                                \
    of(overtraining)                           \
    of(poor_weight_initialization)             \
    of(pressure)                               \
    of(replica_divergence)                     \
    of(rl_clip_fraction)                       \
    of(rl_constant_reward)                     \
    of(rl_entropy_collapse)                    \
    of(rl_explained_variance)                  \
    of(rl_kl)                                  \
    of(rl_observation_range)                   \
    of(rl_policy_ascends)                      \
    of(rl_repeated_states)                     \
    of(rl_target_network)                      \
    of(saturated_activation)                   \
    of(similar_across_runs)                    \
    of(stalled_training)                       \
    of(step_outlier)                           \
    of(step_time_outlier)                      \
    of(straggler)                              \
    of(tensor_variance)                        \
    of(tree_depth)                             \
    of(unchanged_tensor)                       \
    of(underfit)                               \
    of(unrelated_predictions)                  \
    of(update_direction)                       \
    of(update_ratio_band)                      \
    of(updates_too_small)                      \
    of(vanishing_gradient)                     \
    of(weight_update_ratio)

// Sources of findings that are not rules: causes that a pack's diagnosis finds in weights and updates, and requests to
// stop a run from outside.
#define SPOTTER_EACH_OTHER_TELLER(of)          \
    of(initial_weights_too_large)              \
    of(learning_rate_too_large)                \
    of(learning_rate_too_small)                \
    of(learning_rate_zero)                     \
    of(stop_file)                              \
    of(weight_decay_too_large)
// clang-format on

namespace spotter::inline SPOTTER_ABI {

// A rule of the list. `other`: a user's rule, or a composition. The numbers are valid for this version only: a record
// holds names.
enum class rule_id : std::uint8_t {
    other = 0,
#define SPOTTER_ENUMERATOR(which) which,
    SPOTTER_EACH_RULE(SPOTTER_ENUMERATOR) SPOTTER_EACH_OTHER_TELLER(SPOTTER_ENUMERATOR)
#undef SPOTTER_ENUMERATOR
};

namespace detail {

inline constexpr std::string_view rule_names[] = {"",
#define SPOTTER_NAME(which) #which,
                                                  SPOTTER_EACH_RULE(SPOTTER_NAME)
                                                      SPOTTER_EACH_OTHER_TELLER(SPOTTER_NAME)
#undef SPOTTER_NAME
};
static_assert(sizeof(rule_names) / sizeof(*rule_names) <= 256);

}  // namespace detail

// The name, as in findings and records; empty for `other`.
[[nodiscard]] constexpr std::string_view name_of(rule_id which) noexcept {
    return detail::rule_names[static_cast<std::size_t>(which)];
}
// The rule of that name, as read from a record, JSON or a command line. `other`: no rule has this name.
[[nodiscard]] constexpr rule_id rule_id_named(std::string_view name) noexcept {
    std::size_t found = 0;
    for (std::size_t i = 1; i < sizeof(detail::rule_names) / sizeof(*detail::rule_names); ++i) {
        if (detail::rule_names[i] == name) { found = i; }
    }
    return static_cast<rule_id>(found);
}
// The id of a rule type, by its own name: `rule_id_of<dead_relu>`.
template <class Rule>
inline constexpr rule_id rule_id_of = rule_id_named(Rule::name);

}  // namespace spotter::inline SPOTTER_ABI
