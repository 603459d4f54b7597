// SPDX-License-Identifier: Apache-2.0
// Diagnosis (L2): which findings are certain: no healthy run shows them.
#pragma once

#include <spotter/diagnosis/limits.hpp>
#include <spotter/rule/finding.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Whether no healthy run shows it: it is reported however well the run does.
[[nodiscard]] bool is_certain(finding const& it, diagnosis_limits const& limits) noexcept;

// Whether an input is far beyond the range of any normalised input.
[[nodiscard]] bool is_raw(finding const& it, diagnosis_limits const& limits) noexcept;

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/rule/builtin/class_imbalance.hpp>
#include <spotter/rule/builtin/constant_batch.hpp>
#include <spotter/rule/builtin/dead_update_path.hpp>
#include <spotter/rule/builtin/input_not_normalized.hpp>
#include <spotter/rule/builtin/poor_weight_initialization.hpp>
#include <spotter/rule/builtin/rl_target_network.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_COLD_BODY bool is_certain(finding const& it, diagnosis_limits const& limits) noexcept {
    if (it.tells_non_finite || is_raw(it, limits) || it.is<class_imbalance>(class_imbalance::unmixed_batches) ||
        it.is<poor_weight_initialization>(poor_weight_initialization::began_alike)) {
        return true;
    }
    if (it.id == rule_id::constant_batch) {
        // The same few batches in turn; more batches are an epoch.
        return it.severity >= severity::warning &&
               (it.is<constant_batch>(constant_batch::same_batch) || it.measured > 0.9);
    }
    if (it.id == rule_id::rl_repeated_states) { return it.measured >= limits.strong * it.threshold; }
    for (rule_id const rule :
         {rule_id::identity_activation, rule_id::label_noise, rule_id::output_mismatch, rule_id::stalled_training,
          rule_id::rl_constant_reward, rule_id::rl_policy_ascends, rule_id::tree_depth}) {
        if (it.id == rule) { return true; }
    }
    bool const may_end = it.is<dead_update_path>(dead_update_path::no_gradient) ||
                         it.is<rl_target_network>(rl_target_network::equals_online);
    return may_end ? it.measured >= 50 : it.id == rule_id::dead_update_path;
}

SPOTTER_COLD_BODY bool is_raw(finding const& it, diagnosis_limits const& limits) noexcept {
    bool const off_centre = it.is<input_not_normalized>(input_not_normalized::outcome::off_centre);
    double const limit = limits.raw_input * (off_centre ? 1 : 2.5);
    return it.id == rule_id::input_not_normalized && it.how != relation::less && magnitude(it.measured) > limit;
}

}  // namespace spotter::inline SPOTTER_ABI::detail

#endif
