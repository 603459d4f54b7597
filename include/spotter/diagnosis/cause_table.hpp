// SPDX-License-Identifier: Apache-2.0
// Diagnosis (L2): the table of causes, a row each: the signs that it needs, and the signs for it and against it.
// docs/internals/diagnosis.md#the-table-of-causes has the same table, and a test compares them.
#pragma once

#include <spotter/diagnosis/signs.hpp>
#include <spotter/rule/list.hpp>

#include <array>
#include <span>

namespace spotter::inline SPOTTER_ABI::detail {

// clang-format off: in the order of the table
enum class cause : std::uint8_t {
    bad_value, same_batch, no_activation, mismatch, leak, deep_trees, constant_reward, left_out, set_back, alike,
    raw_input, large_weights, decay, zero_rate, small_rate, large_rate, spike, wrong_sign, piles_up, dead_units,
    no_gradient, depth, labels, imbalance, overfit, precision, none
};
// clang-format on

// The weight of a sign in a row. A cause is a candidate where at least one `needed` sign of it is seen.
struct weighed_sign {
    sign what = sign::count;
    int weight = 0;  // below zero: against it
    bool needed = false;
};
[[nodiscard]] constexpr weighed_sign need(sign what, int weight) noexcept { return {what, weight, true}; }
[[nodiscard]] constexpr weighed_sign also(sign what, int weight) noexcept { return {what, weight}; }
[[nodiscard]] constexpr weighed_sign against(sign what, int weight) noexcept { return {what, -weight}; }

struct cause_row {
    cause what;
    std::string_view words;                 // a few words that name the cause
    rule_id usual_rule;                     // the rule whose name its finding usually has
    std::array<weighed_sign, 16> evidence;  // the finding is that of the first sign that is seen and has one
    std::string_view remedy;                // empty: the finding's own
    std::string_view apart;                 // what distinguishes it from similar causes
    bool may_overflow = false;              // it leads to values that are not finite
};

// Weights are whole numbers, set by hand; 20: certain, whatever else is seen.
// clang-format off: what a row is, in one line; its evidence; its remedy and what tells it apart
inline constexpr cause_row cause_table[] = {
    {cause::bad_value, "a value is not finite", rule_id::non_finite,
     {{need(sign::bad_data, 20), need(sign::bad_gradient_alone, 20), need(sign::one_bad_element, 20),
       need(sign::bad_values, 1), also(sign::loss_has_not_risen, 1)}},
     "", "look at the named element before the step that first has it"},
    {cause::same_batch, "the same batch again", rule_id::constant_batch,
     {{need(sign::batches_again, 8)}},
     "", "compare the inputs of two steps"},
    {cause::no_activation, "an activation does nothing", rule_id::identity_activation,
     {{need(sign::no_activation, 7)}},
     "", "compare a layer's outputs before and behind its activation"},
    {cause::mismatch, "output and loss do not match", rule_id::output_mismatch,
     {{need(sign::output_does_not_match, 7), need(sign::labels_below_zero, 7)}},
     "", "compute the loss of one batch by hand from the predictions shown"},
    {cause::leak, "a feature holds the answer", rule_id::feature_importance_overweight,
     {{need(sign::one_feature_tells_all, 7), against(sign::loss_gets_worse, 7)}},
     "", "train without that feature"},
    {cause::deep_trees, "trees are too deep", rule_id::tree_depth,
     {{need(sign::deep_trees, 7), against(sign::loss_gets_worse, 7)}},
     "", "grow the trees half as deep"},
    {cause::constant_reward, "the reward never changes", rule_id::rl_constant_reward,
     {{need(sign::constant_reward, 7)}},
     "", "print the rewards of one episode"},
    {cause::left_out, "a parameter is left out", rule_id::dead_update_path,
     {{need(sign::not_in_optimizer, 9), need(sign::updates_without_effect, 8), against(sign::dead_without_a_leap, 5),
       against(sign::units_died, 4), against(sign::nothing_moves, 4), against(sign::hardly_anything_moves, 4),
       against(sign::weights_came_to_rest, 4)}},
     "Give this parameter to the optimizer, and check that it is not frozen.",
     "ask whether other parameters move: a rate stops all of them"},
    {cause::set_back, "weights are set back", rule_id::dead_update_path,
     {{need(sign::updates_undone, 9)}},
     "", "print one weight at each step, and look where it jumps back"},
    {cause::alike, "weights begin alike or next to zero", rule_id::poor_weight_initialization,
     {{need(sign::weights_alike, 7), need(sign::weights_rest_at_zero, 7), need(sign::weights_next_to_zero, 6)}},
     "", "print one weight matrix before the first step"},
    {cause::raw_input, "inputs are not normalised", rule_id::input_not_normalized,
     {{need(sign::raw_input, 7), need(sign::tiny_input, 5), need(sign::wide_input, 5)}},
     "", "print mean and spread of one batch", true},
    {cause::large_weights, "weights begin too large", rule_id::initial_weights_too_large,
     {{need(sign::large_weights, 6)}},
     "Initialise with variance 2/fan_in (ReLU) or 2/(fan_in + fan_out) (tanh, sigmoid).",
     "compare the spread of a layer's outputs with that of its inputs", true},
    {cause::decay, "weights decay to nothing", rule_id::weight_decay_too_large,
     {{need(sign::most_weights_shrank, 8), against(sign::large_weights, 6), against(sign::guesses, 3)}},
     "Lower the weight decay or the penalty on weights, and check that it is not applied twice.",
     "train a hundred steps without the decay"},
    {cause::zero_rate, "nothing moves", rule_id::learning_rate_zero,
     {{need(sign::nothing_moves, 7), need(sign::weights_came_to_rest, 7),
       against(sign::dead_without_a_leap, 4), against(sign::nothing_to_gain, 7),
       against(sign::updates_lost_in_bf16, 5), against(sign::not_in_optimizer, 3)}},
     "Check that the learning rate is not zero, has not decayed to nothing, nor is too small to change a weight at "
     "all, and that the optimizer is stepped and holds these parameters.",
     "print the rate that the optimizer holds"},
    {cause::small_rate, "the rate is too small", rule_id::learning_rate_too_small,
     {{need(sign::hardly_anything_moves, 5), against(sign::saturated_units, 5),
       against(sign::nothing_to_gain, 5)}},
     "Raise the learning rate; updates of a thousandth of the weights are usual.",
     "take ten times the rate for a hundred steps"},
    {cause::large_rate, "the rate is too large", rule_id::learning_rate_too_large,
     {{need(sign::most_weights_leapt, 4), need(sign::most_weights_leap, 2), need(sign::units_died, 5),
       need(sign::most_weights_leapt_later, 7), need(sign::weights_overflowed, 3),
       against(sign::loss_rests, 2), against(sign::most_weights_climb, 5),
       against(sign::some_weights_climb, 1), against(sign::gradients_change_little, 6)}},
     "Lower the learning rate until updates are a hundredth of the weights or less, or warm it up.",
     "take a tenth of the rate: it cures nothing else", true},
    {cause::spike, "one gradient is far too large", rule_id::gradient_spike,
     {{need(sign::one_gradient_jumped, 9)}},
     "Look at the data of that step, go back to a checkpoint from before, and clip the norm of all gradients.",
     "look at the gradients of that step", true},
    {cause::wrong_sign, "a sign is wrong", rule_id::update_direction,
     {{need(sign::policy_ascends, 6), need(sign::optimizer_ascends, 1), need(sign::loss_below_zero, 5),
       need(sign::loss_without_bottom, 5), need(sign::loss_rises_under_small_steps, 5),
       need(sign::weights_move_one_way, 6), need(sign::most_weights_climb, 5), need(sign::some_weights_climb, 3),
       need(sign::predictions_opposed, 6), also(sign::some_keep_climbing, 5),
       also(sign::loss_gets_worse, 1), against(sign::loss_has_not_risen, 3), against(sign::most_weights_shrank, 4)}},
     "Check the sign of the loss and of the gradient, and that the optimizer subtracts what it is given.",
     "take a tenth of the rate: too large a rate does no harm then", true},
    {cause::piles_up, "gradients are not cleared", rule_id::gradient_not_cleared,
     {{need(sign::gradient_holds_those_before, 6), need(sign::gradients_pile_up, 4),
       need(sign::gradients_change_little, 0), also(sign::loss_gets_worse, 2)}},
     "", "print a gradient right before backward: it is to be zero", true},
    {cause::dead_units, "units are dead", rule_id::dead_relu,
     {{need(sign::dead_without_a_leap, 4), need(sign::dead_units, 2), need(sign::saturated_units, 1),
       need(sign::nothing_to_gain, 5), against(sign::loss_gets_worse, 2)}},
     "", "look at the layer's biases before the first step"},
    {cause::no_gradient, "no gradient arrives", rule_id::dead_update_path,
     {{need(sign::all_gradients_zero, 5), need(sign::no_gradient, 4)}},
     "", "follow the computation from the loss back to this parameter"},
    {cause::depth, "gradients fade with depth", rule_id::vanishing_gradient,
     {{need(sign::gradient_vanishes, 2), need(sign::gradient_fades_with_depth, 2)}},
     "", "compare the gradients of the first layers with those of the last"},
    {cause::labels, "labels do not belong to inputs", rule_id::no_better_than_guessing,
     {{need(sign::guesses, 4), need(sign::labels_contradict, 7),
       need(sign::eval_as_before, 3)}},
     "", "show ten inputs beside their labels"},
    {cause::imbalance, "a class is rare", rule_id::class_imbalance,
     {{need(sign::unmixed_batches, 7), need(sign::classes_imbalanced, 3), against(sign::loss_gets_worse, 3)}},
     "", "count the labels"},
    {cause::overfit, "learned by heart", rule_id::overfit,
     {{need(sign::eval_above_training, 3), need(sign::eval_rises, 3), need(sign::eval_as_before, 0),
       against(sign::loss_rises_again, 4)}},
     "", "hold out a part of the training data and evaluate that"},
    {cause::precision, "updates are lost in rounding", rule_id::bf16_stall,
     {{need(sign::updates_lost_in_bf16, 3)}},
     "", "keep a copy of the weights in float32"},
};
// clang-format on

inline constexpr int small_lead = 1;  // the lead of the first cause up to which the second is also named

struct ranked {
    cause first = cause::none, second = cause::none;
    int lead = 0;  // of the first score over the second
};

// The cause with the highest score above zero and the next one; of equals the first in the table. A bench asks with
// other weights.
[[nodiscard]] constexpr ranked rank(signs const& seen, std::span<cause_row const> table = cause_table) noexcept {
    ranked best;
    int most = 0, next = 0;  // the scores of the first and the second
    for (cause_row const& row : table) {
        int score = 0;
        bool in_question = false;
        for (weighed_sign const& each : row.evidence) {
            if (each.what == sign::count || !seen.has(each.what)) { continue; }
            score += each.weight;
            in_question = in_question || each.needed;
        }
        if (!in_question || score <= next) { continue; }
        if (score > most) {
            next = most, best.second = best.first;
            most = score, best.first = row.what;
        } else {
            next = score, best.second = row.what;
        }
    }
    best.lead = most - next;
    return best;
}

[[nodiscard]] constexpr cause_row const& row_of(cause what) noexcept {
    return cause_table[static_cast<std::size_t>(what)];
}
static_assert([] {
    for (std::size_t i = 0; i < std::size(cause_table); ++i) {
        if (row_of(static_cast<cause>(i)).what != static_cast<cause>(i)) { return false; }
    }
    return std::size(cause_table) == static_cast<std::size_t>(cause::none);
}());

}  // namespace spotter::inline SPOTTER_ABI::detail
