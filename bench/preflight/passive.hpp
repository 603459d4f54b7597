// SPDX-License-Identifier: Apache-2.0
// The other way to find a fault: the loops of the bench are trained as they are, and a hook with the pack for
// supervised trainings watches. Which of its rules name a fault, and the hook.
#pragma once

#include "arm.hpp"
#include "catalogue.hpp"

#include <spotter/core/role.hpp>
#include <spotter/core/tensor_ref.hpp>
#include <spotter/rule/list.hpp>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <string_view>

namespace preflight_bench {

struct accepted_row {
    fault what;
    std::initializer_list<spotter::rule_id> rules;
};

// Rules that name a fault, from what the fault is, written down before the first training. None: no rule that watches
// has a name for it, so its alarms count as found and never as right.
[[nodiscard]] inline bool names(fault what, std::string_view rule) {
    using enum spotter::rule_id;
    static accepted_row const rows[] = {
        {fault::none, {}},
        {fault::negated, {update_direction}},
        {fault::adds, {update_direction}},
        {fault::adds_one, {update_direction}},
        {fault::never_cleared, {gradient_not_cleared}},
        {fault::one_not_cleared, {gradient_not_cleared}},
        {fault::sum_for_mean, {}},  // a factor
        {fault::half, {}},
        {fault::detached, {dead_update_path, vanishing_gradient, gradient_depth_ratio}},
        {fault::weight_missing, {dead_update_path, vanishing_gradient}},
        {fault::bias_missing, {dead_update_path, vanishing_gradient}},
        {fault::one_negated, {update_direction}},
        {fault::no_backward, {dead_update_path, vanishing_gradient}},
        {fault::left_out, {dead_update_path}},
        {fault::rate_times_1000,
         {learning_rate_too_large, update_ratio_band, exploding_gradient, exploding_tensor, non_finite}},
        {fault::rate_tiny, {learning_rate_too_small, learning_rate_zero, updates_too_small, update_ratio_band}},
        {fault::rate_zero, {learning_rate_zero, learning_rate_too_small, updates_too_small, update_ratio_band}},
        {fault::row_missing, {}},  // a wrong element of a gradient
        {fault::row_shifted, {}},
        {fault::transposed, {}},
        {fault::swapped, {}},
        {fault::stale_input, {}},  // the inputs that are shown do change
        {fault::zero_start, {poor_weight_initialization, all_zero}},
        {fault::nan_start, {non_finite}},
        {fault::decay_grows, {}},
        {fault::inputs_constant, {constant_batch}},
        {fault::inputs_raw, {input_not_normalized}},
        {fault::label_too_high, {}},
        {fault::labels_ignored, {no_better_than_guessing, unrelated_predictions}},
        {fault::softmax_over_batch, {output_mismatch}},
        {fault::softmax_twice, {output_mismatch}},
        {fault::batch_mixed, {no_better_than_guessing, unrelated_predictions}},
        {fault::slope_missing, {}},
        {fault::wrong_matrix, {}},
        {fault::dead_units, {dead_relu, all_zero, dormant_units, dead_update_path}},
        {fault::dropout_backward, {}},
        {fault::norm_terms_missing, {}},
        {fault::short_history, {}},
        {fault::wrong_embedding_row, {}},
    };
    static_assert(std::size(rows) == std::size_t(fault::last_));
    auto const* const row =
        std::find_if(std::begin(rows), std::end(rows), [&](auto const& r) { return r.what == what; });
    spotter::rule_id const reported = spotter::rule_id_named(rule);
    return reported != other && std::find(row->rules.begin(), row->rules.end(), reported) != row->rules.end();
}

// The hook. Its body is in a file of its own, as the pack takes long to compile.
class passive_watch {
public:
    passive_watch();
    passive_watch(passive_watch const&) = delete;
    passive_watch& operator=(passive_watch const&) = delete;
    ~passive_watch();

    void begin(std::uint64_t step);
    void observe(std::string_view name, spotter::tensor_ref const& it, spotter::flag flags = spotter::flag::none);
    // Whether this step had an alarm. It is written down.
    [[nodiscard]] bool end(outcome& into);

private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

}  // namespace preflight_bench
