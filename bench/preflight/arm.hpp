// SPDX-License-Identifier: Apache-2.0
// What is done to a net of the bench: one planted fault, or one habit of people whose loops are healthy.
#pragma once

#include <cstddef>
#include <string_view>

namespace preflight_bench {

enum class fault {
    none,
    // of any loop
    negated,
    adds,
    adds_one,
    never_cleared,
    one_not_cleared,
    sum_for_mean,
    half,
    detached,
    weight_missing,
    bias_missing,
    one_negated,
    no_backward,
    left_out,
    rate_times_1000,
    rate_tiny,
    rate_zero,
    row_missing,
    row_shifted,
    transposed,
    swapped,
    stale_input,
    zero_start,
    nan_start,
    decay_grows,
    inputs_constant,
    inputs_raw,
    label_too_high,
    labels_ignored,
    softmax_over_batch,
    softmax_twice,
    batch_mixed,
    // of a net's own backward pass
    slope_missing,
    wrong_matrix,
    dead_units,
    dropout_backward,
    norm_terms_missing,
    short_history,
    wrong_embedding_row,
    last_
};

struct fault_row {
    fault what;
    std::string_view name;    // for people
    std::string_view causes;  // that are right in the first line, blanks between
};

inline constexpr fault_row fault_rows[] = {
    {fault::none, "healthy", ""},
    {fault::negated, "gradient of the loss negated", "negated_gradient"},
    {fault::adds, "optimizer adds", "update_direction"},
    {fault::adds_one, "optimizer adds, one tensor", "update_direction"},
    {fault::never_cleared, "gradients never cleared", "gradient_not_cleared"},
    {fault::one_not_cleared, "one gradient never cleared", "gradient_not_cleared"},
    {fault::sum_for_mean, "gradient of the sum, loss the mean", "sum_for_mean wrong_factor"},
    {fault::half, "gradient halved", "wrong_factor mean_for_sum"},
    {fault::detached, "layers detached", "detached missing_gradient no_gradient"},
    {fault::weight_missing, "a weight's gradient zero", "missing_gradient no_gradient"},
    {fault::bias_missing, "a bias's gradient zero", "missing_gradient"},
    {fault::one_negated, "one tensor's gradient negated", "negated_gradient"},
    {fault::no_backward, "backward pass not run", "no_gradient"},
    {fault::left_out, "a tensor left out of the optimizer", "dead_update_path"},
    {fault::rate_times_1000, "rate x1000", "learning_rate_too_large"},
    {fault::rate_tiny, "rate x1e-7", "learning_rate_too_small"},
    {fault::rate_zero, "rate 0", "learning_rate_zero"},
    {fault::row_missing, "a row of a gradient missing", "wrong_backward inexact_gradient"},
    {fault::row_shifted, "rows of a gradient shifted", "wrong_backward"},
    {fault::transposed, "gradient transposed", "wrong_backward"},
    {fault::swapped, "gradients of two tensors exchanged", "wrong_backward wrong_loss_gradient"},
    {fault::stale_input, "input of the first batch kept", "stale_batch"},
    {fault::zero_start, "all weights zero at the start", "poor_weight_initialization"},
    {fault::nan_start, "NaN in a weight", "non_finite"},
    {fault::decay_grows, "decay with the wrong sign", "weight_decay_grows"},
    {fault::inputs_constant, "all samples equal", "inputs_constant"},
    {fault::inputs_raw, "inputs x255", "input_not_normalized"},
    {fault::label_too_high, "labels from 1", "label_out_of_range"},
    {fault::labels_ignored, "labels ignored", "labels_ignored"},
    {fault::softmax_over_batch, "softmax over the batch", "softmax_over_batch"},
    {fault::softmax_twice, "softmax twice", "softmax_twice"},
    {fault::batch_mixed, "samples mixed by a reshape", "batch_mixed"},
    {fault::slope_missing, "slope of an activation missing or wrong", "wrong_backward"},
    {fault::wrong_matrix, "slope by W in place of its transpose, or a flipped kernel", "wrong_backward"},
    {fault::dead_units, "dead units by bias", "no_effect"},
    {fault::dropout_backward, "dropout mask missing in the backward pass", "wrong_backward"},
    {fault::norm_terms_missing, "mean terms of a normalisation missing", "wrong_backward inexact_gradient"},
    {fault::short_history, "through time one step short", "wrong_backward inexact_gradient"},
    {fault::wrong_embedding_row, "gradient to the wrong row of a table", "wrong_backward"},
};

enum class habit {
    plain,
    momentum,
    nesterov,
    adam,
    adamw,
    adagrad,
    rmsprop,
    decay_in_gradient,
    decay_in_update,
    lasso_in_gradient,
    warm_up,
    clip_in_pass,
    clip_in_update,
    clip_values,
    frozen_first,
    zero_head,
    clears_in_update,
    sum_of_losses,
    tiny_loss,
    small_batch,
    rate_small,
    rate_large,
    small_start,
    micro_batches,
    negated_buffer,
    flat_names,
    dropout,
    last_
};

inline constexpr std::string_view habit_names[] = {"plain descent",
                                                   "momentum",
                                                   "Nesterov",
                                                   "Adam",
                                                   "AdamW",
                                                   "AdaGrad",
                                                   "RMSProp",
                                                   "decay in gradients",
                                                   "decay in update",
                                                   "L1 in gradients",
                                                   "warm-up from 0",
                                                   "clips in pass",
                                                   "clips in update",
                                                   "clips values in pass",
                                                   "frozen first layer",
                                                   "head of zeros",
                                                   "clears in update",
                                                   "sum of losses",
                                                   "loss x1e-6",
                                                   "batch of 4",
                                                   "rate / 100",
                                                   "rate x3",
                                                   "small start",
                                                   "micro batches",
                                                   "minus gradient kept",
                                                   "flat vectors",
                                                   "dropout"};

struct arm {
    fault broken = fault::none;
    habit how = habit::plain;

    [[nodiscard]] bool is(fault what) const noexcept { return broken == what; }
    [[nodiscard]] bool is(habit what) const noexcept { return how == what; }
};

}  // namespace preflight_bench
