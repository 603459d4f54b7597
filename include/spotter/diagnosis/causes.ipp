// SPDX-License-Identifier: Apache-2.0
// The bodies of causes.hpp: what shows each sign, and the finding that reports it.
#pragma once

#include <spotter/diagnosis/causes.hpp>
#include <spotter/rule/builtin/all_zero.hpp>
#include <spotter/rule/builtin/class_imbalance.hpp>
#include <spotter/rule/builtin/constant_batch.hpp>
#include <spotter/rule/builtin/dead_update_path.hpp>
#include <spotter/rule/builtin/gradient_not_cleared.hpp>
#include <spotter/rule/builtin/input_not_normalized.hpp>
#include <spotter/rule/builtin/non_finite.hpp>
#include <spotter/rule/builtin/poor_weight_initialization.hpp>
#include <spotter/rule/builtin/rl_target_network.hpp>
#include <spotter/rule/builtin/unrelated_predictions.hpp>
#include <spotter/rule/builtin/update_direction.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

namespace causes {

// Copies the rule's own finding.
[[nodiscard]] inline bool of_rule(episode const* it, finding& into) noexcept {
    if (it == nullptr) { return false; }
    into = it->latest;
    return true;
}

// The most severe finding of this close, where nothing explains it.
[[nodiscard]] inline bool strongest(run_evidence const& of, finding& into) noexcept {
    episode const* best = nullptr;
    for (episode const& it : of.said) {
        bool const is_stronger = best == nullptr || it.latest.severity > best->latest.severity;
        if (it.was_found_at(of.close) && is_stronger) { best = &it; }
    }
    return of_rule(best, into);
}

// The loss began below zero, its level has doubled, and its latest value is ten times as far below: its sign is wrong.
// A negated probability of one of ten classes, which falls from -0.1 to -1, is no such loss.
inline constexpr double without_bottom = 10;  // times the first loss
[[nodiscard]] inline bool is_negated(run_evidence const& of) noexcept {
    auto const* const loss = of.losses.loss();
    if (loss == nullptr) { return false; }
    falling_series const& all = loss->train;
    return all.first() < 0 && all.level() < 2 * all.first() && all.latest() < without_bottom * all.first();
}

// The loss rises, though updates are small relative to their weights: a rate that is too large takes larger steps. It
// has risen from the start, and the first updates were small; or it does not count as improved, and no update was a
// hundredth of its weight. It did not fall at first, as under gradients that are not cleared.
[[nodiscard]] inline bool climbs(run_evidence const& of, finding& into) noexcept {
    std::string_view name{};
    auto const* const loss = of.losses.first_that(progress::worsens, name);
    if (loss == nullptr || loss->is_of_player) { return false; }
    falling_series const& all = loss->train;
    auto const largest = [&](double update_sizes::weight::* ratio) {
        auto const ask = [&](update_sizes::weight const& it) {
            bool const began_small = it.scale > 0 && it.scale <= update_sizes::small_scale;
            return weighed{began_small ? 0 : it.*ratio};
        };
        return count(of.weights, ask).largest.value;
    };
    double const early = largest(&update_sizes::weight::early), ever = largest(&update_sizes::weight::highest);
    bool const from_the_start = all.rises_from_the_start() && early < of.limits.sure_step;
    bool const since = all.says() == progress::worsens && !all.has_improved() && all.level() > all.early() &&
                       ever < 0.1 * of.limits.leap;
    if (!(early > 0) || all.fell_at_first() || !(from_the_start || since)) { return false; }
    into = found_by(rule_id::update_direction, "the loss rises under small steps", name,
                    {"loss", all.level(), all.early(), relation::greater}, loss->trained_at);
    into.detail << "largest early update " << early << " of its weight";
    return true;
}

// A loss on class labels is never below zero. If it is from the first ten steps on, its sign is wrong. If it falls
// there later, and some classes are below zero, it expects classes from zero on.
[[nodiscard]] inline bool below_zero(run_evidence const& of, bool from_the_start, finding& into) noexcept {
    if (!is_below_zero(of.losses, of.classes, from_the_start)) { return false; }
    std::string_view name{};
    auto const* const loss = of.losses.loss(name);
    falling_series const& all = loss->train;
    into = from_the_start ? found_by(rule_id::update_direction, "a loss on class labels is below zero", name,
                                     {"loss", all.beginning(), 0, relation::less}, loss->trained_at)
                          : found_by(rule_id::output_mismatch, "the loss falls below zero on labels below zero", name,
                                     {"loss", all.level(), 0, relation::less}, loss->trained_at,
                                     "Give classes the numbers that the loss expects: most take them from zero on.");
    return true;
}

// Returns fall or do not rise, and no cause explains it. Where the loss of a critic explodes, that is reported as the
// reason.
[[nodiscard]] SPOTTER_STRICT inline bool returns_fall(run_evidence const& of, finding& into) noexcept {
    SPOTTER_STRICT_BODY
    std::string_view name{}, critic{};
    falling_series const* const fallen = of.losses.fallen_return(name);
    auto const* const value = of.losses.value_that_explodes(critic);
    double const before = fallen == nullptr ? 0 : -fallen->fell_from(of.limits.progress);
    if (!is_ill(of.progress) || (fallen == nullptr && value == nullptr)) { return false; }
    if (value != nullptr) {
        double const far_off = of.limits.progress.explodes * value->train.beginning();
        into = found_by(rule_id::loss_not_decreasing,
                        fallen != nullptr ? "the loss of a critic runs away, and returns fall"
                                          : "the loss of a critic runs away, and returns do not rise",
                        critic, {"loss", value->train.level(), far_off, relation::greater_equal}, value->trained_at,
                        "Lower the critic's learning rate, let its targets follow more slowly, and clip rewards.");
    } else {
        into = found_by(rule_id::loss_not_decreasing, "returns fall", name,
                        {"return", -fallen->level(), before, relation::less}, {},
                        "Lower the learning rate, and go back to the policy that returned more.");
    }
    if (fallen != nullptr) { into.detail << "\"" << name << "\" fell from " << before << " to " << -fallen->level(); }
    return true;
}

inline constexpr std::string_view remedy_of_flat_loss =
    "Check that labels belong to their inputs, and that gradients reach the weights; then raise the learning rate.";

// The course of a loss in words; `why` becomes the comparison that shows it. `above`: a level above its beginning.
[[nodiscard]] inline std::string_view course_of(falling_series const& loss, bool worse, double above,
                                                evidence& why) noexcept {
    if (worse) { return why.how == relation::less ? "loss falls without bound" : "loss rises"; }
    if (why.how == relation::greater) { return "loss has risen again"; }
    if (!(loss.level() > above)) { return "loss is flat"; }
    why = {"loss", loss.level(), above, relation::greater};
    return "loss stays above its beginning";
}

// The loss itself, where no cause explains it, with the comparison by which it was judged.
[[nodiscard]] SPOTTER_STRICT inline bool loss_alone(run_evidence const& of, finding& into) noexcept {
    SPOTTER_STRICT_BODY
    bool const negated = is_negated(of);
    bool const worse = of.progress == progress::worsens || negated;
    std::string_view name{}, evaluated{};
    auto const* const loss = negated ? of.losses.loss(name) : of.losses.first_that(of.progress, name);
    if (loss == nullptr || !(worse || of.progress == progress::flat)) { return false; }
    evidence why = loss->train.why();
    if (negated) { why = {"loss", loss->train.latest(), without_bottom * loss->train.first(), relation::less}; }
    double const above = rescaled(loss->train.first(), of.limits.progress.worse);
    std::string_view reason = course_of(loss->train, worse, above, why);
    bool is_up = worse || why.how == relation::greater;
    step_id at = loss->trained_at;
    if (!worse && loss->train.says() != progress::flat) {
        auto const* const eval = of.losses.evaluates_as_before(evaluated, why);
        if (eval != nullptr) {
            bool const rises = why.how == relation::greater;
            reason = rises ? "eval loss rises from the start" : "eval loss is flat";
            is_up = is_up || rises, name = evaluated, at = eval->evaluated_at;
        }
    }
    into = found_by(rule_id::loss_not_decreasing, reason, name, why, at,
                    is_up ? "Lower the learning rate, and check the sign of the loss." : remedy_of_flat_loss);
    into.detail << "first " << loss->train.first() << ", now " << loss->train.level();
    return true;
}

// Training improves and does not rise again, and evaluation is as bad as training began, or rises from the start:
// learned by heart. Where training has gained hardly more than evaluation, both are flat.
[[nodiscard]] inline bool not_carried_over(run_evidence const& of, finding& into) noexcept {
    std::string_view name{};
    evidence why;
    progress_watch::series const* const it = of.losses.not_carried_over(name, why);
    if (it == nullptr || it->train.rises_again(of.limits.progress)) { return false; }
    bool const rises = why.how == relation::greater;
    into = !rises && !of.losses.trains_ahead(*it, 0.5)
               ? found_by(rule_id::loss_not_decreasing, "eval loss is flat", name, why, it->evaluated_at,
                          remedy_of_flat_loss)
               : found_by(rule_id::overfit,
                          rises ? "eval loss rises from the start" : "eval loss is no lower than before training", name,
                          why, it->evaluated_at,
                          "Check that labels belong to their inputs, and that training and evaluation data are "
                          "prepared alike; then add data, regularisation or augmentation.");
    into.detail << "training loss " << it->train.level();
    return true;
}

// The finding of one rule under the name of another.
[[nodiscard]] inline bool of_rule_as(rule_id who, episode const* it, finding& into) noexcept {
    if (!of_rule(it, into)) { return false; }
    into.attribute_to(who), into.condition = 0;
    return true;
}

// A sign that a rule shows: by one condition of it (0: any), if `if_so` accepts the episode (null: always).
struct spoken_sign {
    sign means;
    rule_id rule;
    std::uint8_t condition = 0;
    bool (*if_so)(episode const&, run_evidence const&) noexcept = nullptr;

    // The episode that shows the sign now; null where there is none.
    [[nodiscard]] episode const* heard(run_evidence const& of) const noexcept {
        episode const* const it = of.held(rule, condition);
        return it != nullptr && (if_so == nullptr || if_so(*it, of)) ? it : nullptr;
    }
};

[[nodiscard]] inline bool of_raw_input(episode const& it, run_evidence const& of) noexcept {
    return is_raw(it.latest, of.limits);
}
// Five times the rule's limit.
[[nodiscard]] SPOTTER_STRICT inline bool of_wide_input(episode const& it, run_evidence const&) noexcept {
    SPOTTER_STRICT_BODY
    return it.latest.how != relation::less && magnitude(it.latest.measured) >= 5 * it.latest.threshold;
}
[[nodiscard]] inline bool of_certain(episode const& it, run_evidence const& of) noexcept {
    return is_certain(it.latest, of.limits);
}
// Found in the first two hundred closes: training that fails drives observations out of range and lets units die.
[[nodiscard]] inline bool of_the_beginning(episode const& it, run_evidence const&) noexcept {
    return it.ever_first <= 200;
}
[[nodiscard]] inline bool of_fifty_closes(episode const& it, run_evidence const& of) noexcept {
    return of.close >= it.first + 50;
}
// Nine tenths of the units are dead, or saturated. A weight that starts at zero and stays there has no dead units.
[[nodiscard]] inline bool of_dead_layer(episode const& it, run_evidence const& of) noexcept {
    return it.latest.measured >= 0.9 && !of.weights.has_weight(it.latest.tensor);
}
// All units of a layer died in training; null where none did.
[[nodiscard]] inline episode const* dead_in_training(run_evidence const& of) noexcept {
    episode const* const it = of.held(rule_id::all_zero, all_zero::died);
    return it != nullptr && of_dead_layer(*it, of) ? it : nullptr;
}
// No update killed them: they are dead from the beginning, did not die in training, and no first update leapt.
[[nodiscard]] inline bool of_dead_units(episode const& it, run_evidence const& of) noexcept {
    return of_dead_layer(it, of) && of_the_beginning(it, of) && dead_in_training(of) == nullptr &&
           !of.weights.leapt(of.limits.large_step);
}

// Beside another alarm, little progress is as good as none: updates below `little` on average are too small.
[[nodiscard]] inline bool moves_hardly(run_evidence const& of, finding& into) noexcept {
    least_move least = least_update(of.progress, of.losses, of.limits);
    bool const gained_little = of.losses.has_gained_little();
    if (gained_little) { least.mean = update_sizes::little; }
    return rate_too_small(of.weights, least, update_sizes::first_updates, into) ||
           (gained_little && are_as_they_began(of.weights, 100, 0.03, into)) ||
           moved_little_in_all(of.weights, of.losses, into);
}

inline constexpr spoken_sign spoken[] = {
    {sign::raw_input, rule_id::input_not_normalized, 0, &of_raw_input},
    {sign::tiny_input, rule_id::input_not_normalized, input_not_normalized::too_small},
    {sign::wide_input, rule_id::rl_observation_range, 0, &of_the_beginning},
    {sign::wide_input, rule_id::input_not_normalized, 0, &of_wide_input},
    {sign::weights_alike, rule_id::poor_weight_initialization, poor_weight_initialization::began_alike},
    {sign::dead_without_a_leap, rule_id::all_zero, 0, &of_dead_units},
    {sign::dead_without_a_leap, rule_id::dead_relu, 0, &of_dead_units},
    {sign::dead_without_a_leap, rule_id::saturated_activation, 0, &of_dead_units},
    {sign::dead_units, rule_id::all_zero},
    {sign::dead_units, rule_id::dead_relu},
    {sign::dead_units, rule_id::dormant_units},
    {sign::saturated_units, rule_id::saturated_activation},
    {sign::batches_again, rule_id::constant_batch, 0, &of_certain},
    {sign::no_activation, rule_id::identity_activation},
    {sign::output_does_not_match, rule_id::output_mismatch},
    {sign::one_feature_tells_all, rule_id::feature_importance_overweight},
    {sign::deep_trees, rule_id::tree_depth},
    {sign::constant_reward, rule_id::rl_constant_reward},
    {sign::policy_ascends, rule_id::rl_policy_ascends},
    {sign::optimizer_ascends, rule_id::update_direction, update_direction::ascends},
    {sign::most_weights_climb, rule_id::update_direction, update_direction::most_climb},
    {sign::some_weights_climb, rule_id::update_direction, update_direction::some_climb},
    {sign::some_keep_climbing, rule_id::update_direction, update_direction::some_climb, &of_fifty_closes},
    {sign::not_in_optimizer, rule_id::dead_update_path, dead_update_path::not_in_optimizer},
    {sign::updates_without_effect, rule_id::dead_update_path, dead_update_path::no_effect},
    {sign::updates_undone, rule_id::dead_update_path, dead_update_path::undone},
    {sign::no_gradient, rule_id::dead_update_path, dead_update_path::no_gradient},
    {sign::gradient_vanishes, rule_id::vanishing_gradient},
    {sign::gradient_fades_with_depth, rule_id::gradient_depth_ratio},
    {sign::gradient_holds_those_before, rule_id::gradient_not_cleared, gradient_not_cleared::holds_those_before},
    {sign::gradients_pile_up, rule_id::gradient_not_cleared, gradient_not_cleared::piles_up},
    {sign::gradients_change_little, rule_id::gradient_not_cleared, gradient_not_cleared::change_little},
    {sign::guesses, rule_id::no_better_than_guessing},
    {sign::guesses, rule_id::unrelated_predictions, unrelated_predictions::unrelated},
    {sign::guesses, rule_id::unrelated_predictions, unrelated_predictions::long_unrelated},
    {sign::guesses, rule_id::unrelated_predictions, unrelated_predictions::in_evaluation_alone},
    {sign::labels_contradict, rule_id::label_noise},
    {sign::unmixed_batches, rule_id::class_imbalance, class_imbalance::unmixed_batches},
    {sign::classes_imbalanced, rule_id::class_imbalance, class_imbalance::one_class},
    {sign::classes_imbalanced, rule_id::class_imbalance, class_imbalance::one_dominates},
    {sign::classes_imbalanced, rule_id::class_imbalance, class_imbalance::mispredicted_class},
    {sign::eval_above_training, rule_id::overfit},
    {sign::eval_rises, rule_id::overtraining},
    {sign::updates_lost_in_bf16, rule_id::bf16_stall},
};

// A sign that is seen where `find` makes a finding from weights or losses.
struct found_sign {
    sign means;
    bool (*find)(run_evidence const&, finding&) noexcept;
};
// clang-format off: a line each
inline constexpr found_sign found[] = {
    {sign::loss_rises_under_small_steps, &climbs},
    {sign::weights_move_one_way, &climbs_one_way},
    {sign::loss_below_zero, [](auto const& of, auto& into) noexcept { return below_zero(of, true, into); }},
    {sign::labels_below_zero, [](auto const& of, auto& into) noexcept { return below_zero(of, false, into); }},
    {sign::predictions_opposed, [](auto const& of, auto& into) noexcept {
         return of_rule_as(rule_id::update_direction,
                           of.held(rule_id::unrelated_predictions, unrelated_predictions::opposed), into); }},
    {sign::eval_as_before, &not_carried_over},
    {sign::weights_came_to_rest, [](auto const& of, auto& into) noexcept {
         return !rest_after_a_leap(of.weights, of.limits.leap) &&
                (came_to_rest(of.weights, into) ||
                 (of.weights.most_rest() &&
                  of_rule_as(rule_id::learning_rate_zero,
                             of.held(rule_id::dead_update_path, dead_update_path::came_to_rest), into))); }},
    {sign::nothing_moves, [](auto const& of, auto& into) noexcept {
         return rate_zero(of.weights, update_sizes::first_updates, into); }},
    {sign::hardly_anything_moves, [](auto const& of, auto& into) noexcept {
         return moves_hardly(of, into) || falls_short(of, into); }},
    {sign::units_died, [](auto const& of, auto& into) noexcept {
         bool const died = of_rule_as(rule_id::learning_rate_too_large, dead_in_training(of), into);
         into.reason = died ? "units died in training" : into.reason;
         return died || killed(of, into); }},
    {sign::most_weights_leapt, &leapt},
    {sign::most_weights_leap, &leaps},
    {sign::most_weights_leapt_later, &leapt_later},
    {sign::one_gradient_jumped, &gradient_jumped},
    {sign::weights_overflowed, &overflowed},
    {sign::most_weights_shrank, [](auto const& of, auto& into) noexcept { return shrank(of.weights, into); }},
    {sign::weights_rest_at_zero, &rest_at_zero},
    {sign::nothing_to_gain, &nothing_to_gain},
    {sign::all_gradients_zero, &nothing_arrives},
    {sign::weights_next_to_zero, &pass_nothing},
    {sign::large_weights, [](auto const& of, auto& into) noexcept {
         return initial_scale(of.weights, of.losses, of.classes, of.limits, into); }},
};
// clang-format on

// Writes the finding of a sign that is seen. False where it has none.
[[nodiscard]] inline bool tell_sign(sign which, run_evidence const& of, finding& into) noexcept {
    if (which <= sign::bad_values) { return of.bad_value != nullptr && (into = *of.bad_value, true); }
    if (which == sign::loss_without_bottom) { return loss_alone(of, into); }
    for (found_sign const& each : found) {
        if (each.means == which) { return each.find(of, into); }
    }
    for (spoken_sign const& each : spoken) {
        if (each.means == which && of_rule(each.heard(of), into)) { return true; }
    }
    return false;
}

// Writes "for: a, b": the signs for a cause, or against it.
inline void list_signs(cause_row const& row, signs const& seen, bool in_favour, finding& into) noexcept {
    bool any = false;
    for (weighed_sign const& each : row.evidence) {
        if (each.weight == 0 || (each.weight > 0) != in_favour || !seen.has(each.what)) { continue; }
        into.detail << (any ? ", " : into.detail.empty() ? "" : "; ");
        if (!std::exchange(any, true)) { into.detail << (in_favour ? "for: " : "against: "); }
        for (char const letter : name_of(each.what)) { into.detail << (letter == '_' ? ' ' : letter); }
    }
}

// Writes the signs for the cause and against it, and the second cause where the lead is small.
inline void explain(ranked const& best, signs const& seen, finding& into) noexcept {
    list_signs(row_of(best.first), seen, true, into);
    list_signs(row_of(best.first), seen, false, into);
    if (best.second != cause::none && best.lead <= small_lead) {
        cause_row const& other = row_of(best.second);  // which may be another reason of the same rule
        into.detail << "; or " << (other.usual_rule == into.id ? other.words : name_of(other.usual_rule))
                    << ": to distinguish them, " << row_of(best.first).apart;
    }
}

}  // namespace causes

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
    bool const off_centre = it.is<input_not_normalized>(input_not_normalized::off_centre);
    double const limit = limits.raw_input * (off_centre ? 1 : 2.5);
    return it.id == rule_id::input_not_normalized && it.how != relation::less && magnitude(it.measured) > limit;
}

SPOTTER_COLD_BODY bool is_below_zero(progress_watch const& losses, class_range const& classes,
                                     bool from_the_start) noexcept {
    bool const may_be = from_the_start ? classes.any() : classes.lowest < 0;
    auto const* const loss = may_be ? losses.loss() : nullptr;
    if (loss == nullptr) { return false; }
    falling_series const& all = loss->train;
    return from_the_start ? all.samples() >= 10 && all.beginning() < 0 : all.beginning() >= 0 && all.level() < 0;
}

SPOTTER_COLD_BODY bool gradients_are_zero(update_sizes const& weights, progress_watch const& losses) noexcept {
    bool const may_learn = losses.judges_returns() ? losses.has_gained_little() : losses.is_not_learned();
    return weights.closes_without_pull() >= causes::zeros_in_a_row(losses) && may_learn;
}

SPOTTER_COLD_BODY bool weights_are_at_rest(update_sizes const& weights, progress_watch const& losses) noexcept {
    finding unused;
    return weights.came_to_rest() && losses.is_not_learned() && causes::came_to_rest(weights, unused);
}

SPOTTER_COLD_BODY bool weights_are_wrong(update_sizes const& weights, progress_watch const& losses,
                                         class_range const& classes, progress now, diagnosis_limits const& limits,
                                         finding& into) noexcept {
    causes::least_move least = causes::least_update(now, losses, limits);
    least.path = is_ill(now) ? least.path : 0;  // a rate that warms up begins like that
    return causes::rate_zero(weights, 20, into) || causes::rate_too_small(weights, least, 100, into) ||
           causes::initial_scale(weights, losses, classes, limits, into) ||
           causes::begin_below(causes::next_to_zero, weights, limits, into);
}

SPOTTER_COLD_BODY bool updates_are_small(update_sizes const& weights, progress_watch const& losses, progress now,
                                         diagnosis_limits const& limits) noexcept {
    finding unused;
    causes::least_move least = causes::least_update(now, losses, limits);
    least.path = 0;
    return (losses.has_gained_little() && causes::rate_too_small(weights, least, causes::least_move::after, unused)) ||
           causes::moved_little_in_all(weights, losses, unused);
}

SPOTTER_COLD_BODY bool names_are_wrong(update_sizes const& weights, step_id at, finding& into) noexcept {
    std::string_view gradient{}, twice{};
    double gradients = 0;
    weights.each_gradient_of_nothing([&](std::string_view name) {
        if (++gradients == 1) { gradient = name; }
    });
    weights.each([&](std::string_view name, update_sizes::weight const& it) { twice = it.twice ? name : twice; });
    if (!twice.empty()) {
        into = causes::found_by(rule_id::dead_update_path, "seen twice in a step, with other values", twice,
                                {"values of one name", 2, 1, relation::greater}, at,
                                "Show a weight once a step. Two nets need two names, such as a/fc1/w and b/fc1/w.");
    } else if (gradients > 0) {
        into = causes::found_by(
            rule_id::dead_update_path, "a gradient has the name of no weight", gradient,
            {"such gradients", gradients, 0, relation::greater}, at,
            "Name a gradient after its weight, grad/fc1/w for fc1/w: most rules on gradients need both.");
    }
    into.severity = severity::info;
    return !twice.empty() || gradients > 0;
}

SPOTTER_COLD_BODY signs signs_of(run_evidence const& of) noexcept {
    using namespace causes;
    using enum sign;
    signs all;
    finding unused;
    if (of.bad_value != nullptr) {
        finding const& it = *of.bad_value;
        all.add(bad_values), all.add(bad_data, it.is<non_finite>(non_finite::in_data));
        all.add(bad_gradient_alone, it.is<non_finite>(non_finite::in_gradient_alone));
        all.add(one_bad_element, it.is<non_finite>(non_finite::in_one_element));
    }
    auto const* const loss = of.losses.loss();
    all.add(loss_gets_worse, of.progress == progress::worsens);
    all.add(loss_rises_again, loss != nullptr && loss->train.rises_again(of.limits.progress));
    all.add(loss_has_not_risen, loss != nullptr && loss->train.has_not_risen(of.limits.progress));
    all.add(loss_without_bottom, is_negated(of));
    for (found_sign const& each : found) { all.add(each.means, each.find(of, unused)); }
    for (spoken_sign const& each : spoken) { all.add(each.means, each.heard(of) != nullptr); }
    bool const is_explained = all.has(units_died) || all.has(saturated_units);
    all.add(loss_rests, of.progress == progress::flat && all.has(loss_has_not_risen) && !is_explained);
    return all;
}

SPOTTER_COLD_BODY bool finding_of(cause what, signs const& seen, run_evidence const& of, finding& into) noexcept {
    for (weighed_sign const& each : row_of(what).evidence) {
        bool const speaks = each.what != sign::count && each.weight >= 0 && seen.has(each.what);
        if (speaks && causes::tell_sign(each.what, of, into)) {
            if (!row_of(what).remedy.empty()) { into.remedy = row_of(what).remedy; }
            return true;
        }
    }
    return false;
}

SPOTTER_COLD_BODY bool name_cause(run_evidence const& of, signs const& seen, ranked& best, finding& into) noexcept {
    best = rank(seen);
    if (best.first != cause::none && finding_of(best.first, seen, of, into)) {
        if (best.first != cause::bad_value) { causes::explain(best, seen, into); }  // that is evidence by itself
        return true;
    }
    best = {};
    bool const any_weight = of.weights.any([](std::string_view, update_sizes::weight const&) { return true; });
    if (any_weight && of.progress == progress::flat && of.losses.is_young()) { return false; }  // a cause may follow
    return causes::loss_alone(of, into) || causes::returns_fall(of, into) || causes::strongest(of, into);
}

}  // namespace spotter::inline SPOTTER_ABI::detail
