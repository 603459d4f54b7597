// SPDX-License-Identifier: Apache-2.0
// Preflight (L4): the causes that an examination can report, in order, with their proof and remedy.
#pragma once

#include <spotter/rule/finding.hpp>
#include <spotter/rule/list.hpp>

#include <array>

namespace spotter::inline SPOTTER_ABI {

// In the order in which they are reported: of two with the same severity, the earlier one explains the later. A cause
// that the diagnosis of a run knows, too, has the same name.
enum class preflight_cause : std::uint8_t {
    none,
    // the loop cannot be examined as it is
    threw,
    copy_shares_memory,
    works_on_the_net,
    nothing_to_examine,
    shapes_change,
    weights_change_in_pass,
    losses_differ,
    // data and start
    non_finite,
    inputs_constant,
    input_not_normalized,
    label_out_of_range,
    poor_weight_initialization,
    no_effect,
    inputs_ignored,
    labels_ignored,
    loss_flat,
    // the backward pass
    no_gradient,
    negated_gradient,
    wrong_loss_gradient,
    wrong_backward,
    detached,
    missing_gradient,
    stale_batch,
    sum_for_mean,
    mean_for_sum,
    wrong_factor,
    inexact_gradient,
    gradient_without_weight,
    // clearing and the update
    gradient_not_cleared,
    update_direction,
    learning_rate_zero,
    dead_update_path,
    frozen_moves,
    weight_decay_grows,
    // outputs, labels, modes
    softmax_over_batch,
    batch_mixed,
    softmax_twice,
    labels_constant,
    labels_contradict,
    batch_statistics_in_evaluation,
    random_in_evaluation,
    samples_coupled,
    not_repeatable,
    not_restored,
    // what causes above explain
    learning_rate_too_large,
    learning_rate_too_small,
    no_descent,
    initial_loss,
    cannot_overfit,
    labels_unrelated,
    // ways of working, and limits of the examination: notes
    not_proven,
    cleared_by_update,
    decay_in_gradient,
    clipped_gradient,
    warm_up,
    batch_statistics,
};
// Includes `none`.
inline constexpr std::size_t preflight_cause_count = static_cast<std::size_t>(preflight_cause::batch_statistics) + 1;

// The texts of a cause.
struct preflight_row {
    preflight_cause cause;       // the cause that this row describes
    std::string_view name;       // the rule of the finding
    spotter::severity severity;  // at most; an experiment may report a lower one
    bool is_symptom;             // a note where an earlier cause was reported
    std::string_view reason;     // the sentence of the finding
    std::string_view proof;      // the experiment
    std::string_view remedy;     // what to do
};

namespace detail {

[[nodiscard]] consteval std::array<preflight_row, preflight_cause_count> make_preflight_rows() noexcept {
    using enum severity;
    return {{
        {preflight_cause::none, "none", info, false, "", "", ""},
        {preflight_cause::threw, "threw", error, false, "the loop's own code threw", "a pass or an update",
         "Run one pass and one update by themselves; what they throw is in the brackets."},
        {preflight_cause::copy_shares_memory, "copy_shares_memory", error, false,
         "a copy of the net shares memory with the net", "addresses of the tensors of net and copy",
         "Write a copy constructor that copies the values (no raw or shared pointers to them), or hand over "
         "sp::examination with save and restore."},
        {preflight_cause::works_on_the_net, "works_on_the_net", error, false,
         "pass or step changes the net itself, not the copy that it is given",
         "the tensors of the net before and after a pass and an update of a copy",
         "Use the argument: [](auto& n) { return n.forward_backward(); }. Where the net holds pointers into itself (an "
         "optimizer, layers), its copy "
         "constructor has to set them anew; or hand over sp::examination."},
        {preflight_cause::nothing_to_examine, "nothing_to_examine", error, false, "no weight with a gradient was shown",
         "visit_tensors, after a pass",
         "Show each weight, and its gradient as grad/ and the weight's name, of the same size and in float, double, "
         "bf16 or f16."},
        {preflight_cause::shapes_change, "shapes_change", error, false,
         "the tensors that are shown change their names or sizes from pass to pass", "visit_tensors, after each pass",
         "Show the same weights and gradients, in the same order, each time."},
        {preflight_cause::weights_change_in_pass, "weights_change_in_pass", error, false,
         "proven: a pass changes the weights", "weights before and after a pass",
         "Forward and backward belong into pass, the update into step; where a pass makes the weights that are shown "
         "of "
         "others (a master copy, a reparametrisation), show those."},
        {preflight_cause::losses_differ, "losses_differ", error, false,
         "proven: loss and backward do not give the same loss at the same weights", "both, one after the other",
         "Both have to be of the same batch, in the same mode, with the same terms."},
        {preflight_cause::non_finite, name_of(rule_id::non_finite), error, false,
         "proven: not finite before any update", "the first pass",
         "Look at the initial weights, at the data, and at logarithms, roots and quotients of zero."},
        {preflight_cause::inputs_constant, "inputs_constant", error, false,
         "proven: all samples of the batch are equal", "the inputs", "Look at how the batch is filled."},
        {preflight_cause::input_not_normalized, name_of(rule_id::input_not_normalized), warning, false,
         "proven: raw inputs", "mean and standard deviation of the inputs",
         "Subtract the mean and divide by the standard deviation of the training data."},
        {preflight_cause::label_out_of_range, "label_out_of_range", error, false,
         "proven: a label is no class that the outputs have", "labels beside the extent of the outputs",
         "Labels count from 0; the output layer has one unit a class."},
        {preflight_cause::poor_weight_initialization, name_of(rule_id::poor_weight_initialization), error, false,
         "proven: all elements of every weight matrix are equal, so the units of a layer can never differ",
         "the weights at the start", "Draw initial weights at random."},
        {preflight_cause::no_effect, "no_effect", error, false,
         "proven: the loss does not depend on these weights, and their gradient is zero",
         "weights moved at random; the gradient",
         "Their units are dead (a ReLU below zero for every sample: look at biases and initial weights), or the "
         "forward pass does not use them."},
        {preflight_cause::inputs_ignored, "inputs_ignored", error, false,
         "proven: the loss does not change when samples exchange their inputs", "inputs rotated by one sample",
         "The forward pass does not read these inputs: look at what it reads, and at saturated or dead first layers."},
        {preflight_cause::labels_ignored, "labels_ignored", error, false,
         "proven: the loss does not change when samples exchange their labels", "labels rotated by one sample",
         "The loss does not read these labels."},
        {preflight_cause::loss_flat, "loss_flat", error, true,
         "proven: the loss does not move with the weights as its gradients say",
         "weights moved at random, as they are and smaller ones",
         "Where it does at smaller weights it is clamped or saturated, or a last slope is left out: scale inputs and "
         "initial weights, and examine again. Otherwise what pass returns is not the loss that it differentiates."},
        {preflight_cause::no_gradient, "no_gradient", error, false,
         "proven: the loss depends on the weights, but all gradients are zero", "weights moved at random; the gradient",
         "The backward pass does not run, its first slope is zero, or gradients are clipped or scaled to zero."},
        {preflight_cause::negated_gradient, "negated_gradient", error, false,
         "proven: the gradient is minus the derivative of the loss", "the loss along random directions",
         "Look at the line that adds to this gradient. If all are negated, look at the sign of the loss's own slope: "
         "of "
         "(output - target)^2 it is 2 (output - target)."},
        {preflight_cause::wrong_loss_gradient, "wrong_loss_gradient", error, false,
         "proven: no gradient is the derivative of the loss, not even the last layer's",
         "the loss along random directions",
         "What the loss hands back to the last layer is wrong: its slope, or the labels that it uses there."},
        {preflight_cause::wrong_backward, "wrong_backward", error, false,
         "proven: the gradient is not the derivative of the loss", "the loss along random directions",
         "Look at the backward pass at the place that is named; everything behind it, towards the loss, is right."},
        {preflight_cause::detached, "detached", error, false,
         "proven: the loss depends on these weights, but no gradient reaches them",
         "weights moved at random; the gradient",
         "The backward pass ends at the place that is named: hand the slope on to the layer before it."},
        {preflight_cause::missing_gradient, "missing_gradient", error, false,
         "proven: the loss depends on this weight, but its gradient is zero", "weights moved at random; the gradient",
         "Compute it; or flag the weight as frozen if it is meant to stay."},
        {preflight_cause::stale_batch, "stale_batch", error, false,
         "proven: the backward pass uses what an earlier batch left",
         "a pass behind one on other inputs, beside the same pass alone",
         "Look at what the layer keeps of the forward pass, and whether each forward pass sets it."},
        {preflight_cause::sum_for_mean, "sum_for_mean", warning, false,
         "proven: every gradient is that of the sum over the batch, the loss is the mean",
         "the loss along random directions",
         "Divide by the number of samples; where update() does that, say .loss_scale = the batch."},
        {preflight_cause::mean_for_sum, "mean_for_sum", warning, false,
         "proven: every gradient is that of the mean over the batch, the loss is the sum",
         "the loss along random directions", "Return the mean of the losses, or leave the division out."},
        {preflight_cause::wrong_factor, "wrong_factor", warning, false,
         "proven: the gradient is a multiple of the derivative of the loss", "the loss along random directions",
         "A factor of 2 or 1/2 belongs to a square; any other changes the learning rate. What is meant, say as "
         ".loss_scale."},
        {preflight_cause::inexact_gradient, "inexact_gradient", warning, false,
         "proven: the gradient is not quite the derivative of the loss", "the loss along random directions",
         "A term is missing, a few elements are wrong, or a sum ends one step early."},
        {preflight_cause::gradient_without_weight, "gradient_without_weight", warning, false,
         "a gradient belongs to no weight that is shown", "names and sizes of tensors, after a pass",
         "Show it as grad/ and the weight's name, with as many elements."},
        {preflight_cause::gradient_not_cleared, name_of(rule_id::gradient_not_cleared), error, false,
         "proven: a pass adds to what the gradient held before, and the update does not clear it",
         "gradients filled before a pass",
         "Set gradients to zero before each backward pass; where the loop does that itself, do it in pass or step, "
         "too."},
        {preflight_cause::update_direction, name_of(rule_id::update_direction), error, false,
         "proven: the update moves along the gradient, not against it", "an update from weights of zero",
         "Subtract it: w -= rate * gradient."},
        {preflight_cause::learning_rate_zero, name_of(rule_id::learning_rate_zero), error, false,
         "proven: there are gradients, and five updates move no weight", "five updates from weights of zero",
         "The rate is zero, or the optimizer holds other tensors than those shown."},
        {preflight_cause::dead_update_path, name_of(rule_id::dead_update_path), error, false,
         "proven: it has a gradient, and five updates never move it", "five updates from weights of zero",
         "Hand it to the optimizer; or flag it as frozen if it is meant to stay."},
        {preflight_cause::frozen_moves, "frozen_moves", error, false,
         "proven: it is flagged as frozen, and the update changes it", "five updates",
         "Leave it out of the update, or do not flag it."},
        {preflight_cause::weight_decay_grows, "weight_decay_grows", error, false,
         "proven: weight decay makes the weights larger", "the update beside the same update from weights of zero",
         "Subtract it: w -= rate * decay * w."},
        {preflight_cause::softmax_over_batch, "softmax_over_batch", error, false,
         "proven: outputs sum to one over the batch, not over the classes", "sums of the outputs",
         "Take the softmax along the axis of the classes."},
        {preflight_cause::batch_mixed, "batch_mixed", error, false,
         "proven: exchanging samples does not exchange their outputs", "inputs rotated by one sample",
         "Samples are mixed: look at reshapes and at the order of axes."},
        {preflight_cause::softmax_twice, "softmax_twice", error, false,
         "proven: the loss takes probabilities for logits",
         "the loss beside the outputs; the last layer's weights times 1000",
         "Hand the loss the logits, or take the logarithm of the probabilities."},
        {preflight_cause::labels_constant, "labels_constant", warning, false,
         "all samples of the batch have the same label", "the labels",
         "Shuffle the data before it is cut into batches."},
        {preflight_cause::labels_contradict, "labels_contradict", warning, false, "equal inputs have different labels",
         "inputs and labels", "Look at how inputs and labels are paired."},
        {preflight_cause::batch_statistics_in_evaluation, "batch_statistics_in_evaluation", warning, false,
         "proven: samples influence each other's outputs in evaluation", "one sample's input changed, in evaluation",
         "Normalise by running statistics in evaluation; look whether the mode reaches the layer."},
        {preflight_cause::random_in_evaluation, "random_in_evaluation", error, false,
         "proven: random numbers change the loss in evaluation", "two passes in evaluation",
         "Switch dropout off in evaluation; look whether the mode reaches the layer."},
        {preflight_cause::samples_coupled, "samples_coupled", warning, false,
         "proven: one sample's input changes the outputs of others", "one sample's input changed",
         "Right only with batch normalisation or a loss on pairs; otherwise look at reshapes and axes."},
        {preflight_cause::not_repeatable, "not_repeatable", warning, false, "the same pass gives other losses",
         "passes from the same state",
         "Give one batch; hold random numbers in the net, or hand over .seed; or examine in evaluation mode."},
        {preflight_cause::not_restored, "not_restored", warning, false,
         "the same pass or update comes out otherwise later on", "the first pass and update, once more",
         "Save and restore whatever a pass or an update changes: moments, running statistics, random numbers, the "
         "place in the data; copies must not share them."},
        {preflight_cause::learning_rate_too_large, name_of(rule_id::learning_rate_too_large), error, true,
         "proven: one update takes the loss of its own batch up", "the loss along the loop's own first update",
         "Lower the rate by the factor that is named."},
        {preflight_cause::learning_rate_too_small, name_of(rule_id::learning_rate_too_small), warning, true,
         "proven: the loss goes on falling along the first update far beyond its length",
         "the loss along the loop's own first update",
         "Raise the rate; a tenth of the factor that is named is a beginning."},
        {preflight_cause::no_descent, "no_descent", info, true,
         "the loss falls at no length of the update, though it goes against the gradient",
         "the loss along the loop's own first update", "Look at the gradients that were not proven."},
        {preflight_cause::initial_loss, name_of(rule_id::initial_loss), warning, true,
         "proven: the first loss is far above that of a guess",
         "the loss beside the logarithm of the number of classes", "Begin with smaller weights in the last layer."},
        {preflight_cause::cannot_overfit, "cannot_overfit", warning, true,
         "two hundred updates on one batch do not lower its loss", "training on one batch, of a copy",
         "Look at the notes; at rate, capacity and saturation."},
        {preflight_cause::labels_unrelated, "labels_unrelated", warning, true,
         "by statistics, no proof: what is learned of half of the batch helps the other half no more than with labels "
         "exchanged",
         "training on half of the batch, of a copy", "Look at how inputs and labels are paired, and shuffled."},
        {preflight_cause::not_proven, "not_proven", info, false, "could not be proven", "", ""},
        {preflight_cause::cleared_by_update, "cleared_by_update", info, false,
         "gradients are cleared by the update, not by the pass", "gradients filled before a pass", ""},
        {preflight_cause::decay_in_gradient, "decay_in_gradient", info, false,
         "gradients hold a multiple of the weights that the loss does not", "the loss along random directions", ""},
        {preflight_cause::clipped_gradient, "clipped_gradient", info, false,
         "gradients are clipped in the pass; their directions are right", "their norm at several points", ""},
        {preflight_cause::warm_up, "warm_up", info, false, "the first updates move nothing",
         "five updates from weights of zero", ""},
        {preflight_cause::batch_statistics, "batch_statistics", info, false,
         "samples influence each other in training, not in evaluation", "one sample's input changed", ""},
    }};
}
// Indexed by cause. Not a local constant, which each call would build again.
inline constexpr std::array<preflight_row, preflight_cause_count> preflight_rows = make_preflight_rows();

[[nodiscard]] constexpr bool rows_stand_in_order() noexcept {
    for (std::size_t i = 0; i < preflight_rows.size(); ++i) {
        if (static_cast<std::size_t>(preflight_rows[i].cause) != i || preflight_rows[i].name.empty()) { return false; }
    }
    return true;
}
static_assert(rows_stand_in_order(), "spotter: a cause's row stands at its number");

}  // namespace detail

// The row of a cause.
[[nodiscard]] constexpr preflight_row const& describe_cause(preflight_cause what) noexcept {
    auto const index = static_cast<std::size_t>(what);
    return detail::preflight_rows[index < preflight_cause_count ? index : 0];
}
[[nodiscard]] constexpr std::string_view name_of(preflight_cause what) noexcept { return describe_cause(what).name; }

}  // namespace spotter::inline SPOTTER_ABI
