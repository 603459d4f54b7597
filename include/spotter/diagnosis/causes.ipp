// SPDX-License-Identifier: Apache-2.0
// The bodies of causes.hpp: a function a cause, and the order in which they explain each other. A step larger than the
// weights explains dead units, not the other way round.
#pragma once

#include <spotter/diagnosis/causes.hpp>
#include <spotter/rule/builtin/constant_batch.hpp>
#include <spotter/rule/builtin/dead_update_path.hpp>
#include <spotter/rule/builtin/gradient_not_cleared.hpp>
#include <spotter/rule/builtin/input_not_normalized.hpp>
#include <spotter/rule/builtin/poor_weight_initialization.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

namespace causes {

// A weight matrix whose update ratio or initial scale is the largest, and the step that showed it.
struct extreme_weight {
    std::string_view name{};
    double value = 0;
    step_id at{};
};

// The first weight in the order of the program that has the largest value of `read(weight)`, which the step `at`
// showed.
template <class Read>
[[nodiscard]] extreme_weight largest(update_sizes const& weights, Read&& read,
                                     step_id update_sizes::weight::* at) noexcept {
    extreme_weight found;
    weights.each([&](std::string_view name, update_sizes::weight const& it) {
        double const value = read(it);
        if (value > found.value) { found = {name, value, it.*at}; }
    });
    return found;
}

// `at`: the step that showed it.
[[nodiscard]] inline finding told(rule_id who, std::string_view reason, std::string_view tensor, evidence const& why,
                                  step_id at, std::string_view remedy) noexcept {
    finding it;
    it.told_by(who);
    it.reason = reason, it.tensor = tensor, it.measure = why.measure;
    it.measured = why.measured, it.how = why.how, it.threshold = why.threshold, it.remedy = remedy, it.step = at;
    return it;
}

inline constexpr double usual_ratio = 0.01;  // an update of a hundredth of the weights: large, and healthy

[[nodiscard]] SPOTTER_STRICT inline finding large_rate(extreme_weight const& of, double limit) noexcept {
    SPOTTER_STRICT_BODY
    finding it = told(rule_id::learning_rate_too_large,
                      of.value >= 1 ? "a step is larger than the weights" : "steps are large beside the weights",
                      of.name, {"update ratio", of.value, limit, relation::greater_equal}, of.at,
                      "Lower the learning rate until updates are a hundredth of the weights or less, or warm it up.");
    it.detail << "an update of 1 % takes the rate times " << usual_ratio / of.value << "; seen at "
              << name_of(of.at.mode) << '(' << of.at.index << ')';
    return it;
}
// One of the first steps was of the size of the weights.
[[nodiscard]] inline bool rate_too_large(run_evidence const& of, finding& into) noexcept {
    double const limit = of.limits.large_step;
    extreme_weight const early = largest(
        of.weights, [](auto const& it) { return it.scale > 0.01 ? it.early : 0.0; }, &update_sizes::weight::early_at);
    if (early.value < limit) { return false; }
    into = large_rate(early, limit);
    return true;
}
// Later steps are, lately.
[[nodiscard]] inline bool rate_runs_away(run_evidence const& of, finding& into) noexcept {
    if (of.losses.stands_still()) { return false; }  // a step so large would show
    bool const at_once = of.bad_value && of.close <= 10;
    double const limit =
        of.progress == progress::worsens || at_once ? of.limits.large_step_if_worse : of.limits.large_step;
    extreme_weight const lately =
        largest(of.weights, [](auto const& it) { return it.peak; }, &update_sizes::weight::peak_at);
    if (lately.value < limit) { return false; }
    into = large_rate(lately, limit);
    return true;
}

// The rule's own finding.
[[nodiscard]] inline bool of_rule(episode const* it, finding& into) noexcept {
    if (it == nullptr) { return false; }
    into = it->latest;
    return true;
}

[[nodiscard]] inline episode const* one_value_at_first(run_evidence const& of) noexcept {
    return of.held_at_first(rule_id_of<poor_weight_initialization>, poor_weight_initialization::one_value);
}

[[nodiscard]] inline bool symmetric(run_evidence const& of, finding& into) noexcept {
    episode const* const it = one_value_at_first(of);
    return it != nullptr && is_symmetric(*it, of.weights) && of_rule(it, into);
}

// A weight that began with one value, and nothing gets it away from there: a convex model that starts at zero has a
// gradient.
[[nodiscard]] inline bool stays_alike(run_evidence const& of, finding& into) noexcept {
    bool const stands = of.progress == progress::flat;
    bool const rests = of.weights.alike().of_one_value >= 2 || of.held(rule_id::vanishing_gradient) != nullptr;
    return stands && rests && of_rule(one_value_at_first(of), into);
}

// More than half of the weight matrices, of two at least, began so large that each layer makes what flows through it
// several times larger.
[[nodiscard]] inline bool initial_scale(update_sizes const& weights, double limit, finding& into) noexcept {
    std::uint64_t large = 0, seen = 0;
    extreme_weight first;
    weights.each([&](std::string_view name, update_sizes::weight const& it) {
        ++seen;
        if (it.scale < limit) { return; }
        if (large++ == 0) { first = {name, it.scale, it.met_at}; }
    });
    if (large < 2 || 2 * large <= seen) { return false; }
    into = told(rule_id::initial_weights_too_large, "weights begin too large for what flows through them", first.name,
                {"root mean square times root of fan-in", first.value, limit, relation::greater_equal}, first.at,
                "Initialise with variance 2/fan_in (ReLU) or 2/(fan_in + fan_out) (tanh, sigmoid).");
    into.others = static_cast<std::uint32_t>(large - 1);
    return true;
}

// No weight has ever moved, though the loop goes on.
[[nodiscard]] inline bool rate_zero(update_sizes const& weights, std::uint64_t patience, finding& into) noexcept {
    std::uint64_t resting = 0, others = 0;
    extreme_weight first;
    weights.each([&](std::string_view name, update_sizes::weight const& it) {
        bool const rests = it.moves == 0 && it.rests >= patience;
        (rests ? resting : others) += 1;
        if (rests && first.name.empty()) { first = {name, static_cast<double>(it.rests), it.met_at}; }
    });
    if (resting == 0 || others > 0 || weights.nothing_pulls()) { return false; }
    into = told(rule_id::learning_rate_zero, "no weight has ever moved", first.name,
                {"observations without a change", first.value, static_cast<double>(patience), relation::greater_equal},
                first.at,
                "Check that the learning rate is not zero, nor too small to change a weight at all, and that the "
                "optimizer is stepped and "
                "holds these parameters.");
    into.others = static_cast<std::uint32_t>(resting - 1);
    return true;
}

// None has ever moved by more than `limit` of itself in a step.
[[nodiscard]] SPOTTER_STRICT inline bool rate_too_small(update_sizes const& weights, double limit,
                                                        std::uint64_t patience, finding& into) noexcept {
    SPOTTER_STRICT_BODY
    std::uint64_t seen = 0, moved = 0;
    extreme_weight most;
    weights.each([&](std::string_view name, update_sizes::weight const& it) {
        ++seen;
        moved += it.highest >= limit || it.moves + it.rests < patience ? 1 : 0;
        if (it.highest >= most.value) { most = {name, it.highest, it.met_at}; }
    });
    if (seen == 0 || moved > 0 || !(most.value > 0)) { return false; }
    into = told(rule_id::learning_rate_too_small, "steps are next to nothing beside the weights", most.name,
                {"largest update ratio", most.value, limit, relation::less}, most.at,
                "Raise the learning rate; updates of a thousandth of the weights are usual.");
    into.detail << "an update of 0.1 % takes the rate times " << 0.1 * usual_ratio / most.value;
    return true;
}

// What alarms, where nothing explains it.
[[nodiscard]] inline bool strongest(run_evidence const& of, finding& into) noexcept {
    episode const* best = nullptr;
    for (episode const& it : of.said) {
        if (it.last == of.close && (best == nullptr || it.latest.severity > best->latest.severity)) { best = &it; }
    }
    return of_rule(best, into);
}

// The loss began below zero and falls: what a loss with the wrong sign does.
[[nodiscard]] inline bool is_negated(run_evidence const& of) noexcept {
    std::string_view name{};
    falling_series const* const loss = of.losses.loss(name);
    return loss != nullptr && loss->first() < 0 && loss->level() < loss->first() + loss->first();
}

// The loss has risen from the first steps on, though the first updates were small beside their weights: a rate that is
// too large overshoots by more than that.
[[nodiscard]] inline bool climbs(run_evidence const& of, finding& into) noexcept {
    std::string_view name{};
    auto const* const loss = of.losses.first_that(progress::worsens, name);
    if (loss == nullptr || !loss->train.rises_from_the_start()) { return false; }
    extreme_weight const most =
        largest(of.weights, [](auto const& it) { return it.early; }, &update_sizes::weight::early_at);
    if (!(most.value > 0) || most.value >= of.limits.sure_step) { return false; }
    into = told(rule_id::update_direction, "the loss rises under small steps", name,
                {"loss", loss->train.level(), loss->train.early(), relation::greater}, loss->trained_at,
                "Check the sign of the loss and of the gradient, and that the optimizer subtracts what it is given.");
    into.detail << "largest early update " << most.value << " of its weight";
    return true;
}

// No loss on class labels is below zero.
[[nodiscard]] inline bool below_zero(run_evidence const& of, finding& into) noexcept {
    std::string_view name{};
    if (!of.has_classes || !is_below_zero(of.losses)) { return false; }
    auto const* const loss = of.losses.first_that(progress::unknown, name);
    into = told(rule_id::update_direction, "a loss on class labels is below zero", name,
                {"loss", loss->train.beginning(), 0, relation::less}, loss->trained_at,
                "Check the sign of the loss: no error on classes is less than none.");
    return true;
}

// The loss itself, where nothing explains it, by the comparison that its course was judged by.
[[nodiscard]] inline bool loss_alone(run_evidence const& of, finding& into) noexcept {
    bool const negated = is_negated(of);
    bool const worse = of.progress == progress::worsens || negated;
    std::string_view name{};
    auto const* const loss =
        negated ? of.losses.first_that(progress::unknown, name) : of.losses.first_that(of.progress, name);
    if (loss == nullptr || !(worse || of.progress == progress::flat)) { return false; }
    evidence why = loss->train.why();
    if (negated) { why = {"loss", loss->train.level(), loss->train.first() + loss->train.first(), relation::less}; }
    bool const bottomless = worse && why.how == relation::less;
    into = told(rule_id::loss_not_decreasing,
                bottomless ? "loss falls without bound"
                : worse    ? "loss rises"
                           : "loss is flat",
                name, why, loss->trained_at,
                worse ? "Lower the learning rate, and check the sign of the loss."
                      : "Check that labels belong to their inputs, and that gradients reach the weights; then raise "
                        "the learning rate.");
    into.detail << "first " << loss->train.first() << ", now " << loss->train.level();
    return true;
}

// Evaluation is as bad as training began: learned by heart, or nothing learned.
[[nodiscard]] SPOTTER_STRICT inline bool not_carried_over(run_evidence const& of, finding& into) noexcept {
    SPOTTER_STRICT_BODY
    std::string_view name{};
    evidence why;
    progress_watch::series const* const it = of.losses.not_carried_over(name, why);
    if (it == nullptr) { return false; }
    bool const by_heart = it->train.level() < 0.5 * it->train.beginning();
    into = told(by_heart ? rule_id::overfit : rule_id::loss_not_decreasing,
                by_heart ? "eval loss is as before training" : "eval loss is flat", name, why, it->evaluated_at,
                by_heart ? "Check that labels belong to their inputs, and that training and evaluation data are "
                           "prepared alike; then add data, regularisation or augmentation."
                         : "Check that labels belong to their inputs, and that gradients reach the weights; then "
                           "raise the learning rate.");
    into.detail << "training loss " << it->train.level();
    return true;
}

// Five times what is allowed.
[[nodiscard]] SPOTTER_STRICT inline bool is_wide(finding const& it) noexcept {
    SPOTTER_STRICT_BODY
    return it.how != relation::less && magnitude(it.measured) >= 5 * it.threshold;
}

// Units that did nothing from the first steps on, before an update could kill them.
[[nodiscard]] inline bool dead_at_first(run_evidence const& of, finding& into) noexcept {
    for (rule_id const rule : {rule_id::all_zero, rule_id::dead_relu}) {
        episode const* const it = of.held_at_first(rule);
        if (it == nullptr || it->latest.measured < 0.9) { continue; }
        bool is_weight = false;  // one that starts at zero, and rests: its units are not dead
        of.weights.each(
            [&](std::string_view name, auto const&) { is_weight = is_weight || name == it->latest.tensor; });
        if (!is_weight) { return of_rule(it, into); }
    }
    return false;
}

}  // namespace causes

SPOTTER_COLD_BODY bool is_symmetric(episode const& it, update_sizes const& weights) noexcept {
    if (!it.latest.is<poor_weight_initialization>(poor_weight_initialization::one_value)) { return false; }
    update_sizes::alike_weights const found = weights.alike();
    return found.of_one_value >= 2 && (found.of_one_value == found.seen || 2 * found.not_zero >= found.seen);
}

SPOTTER_COLD_BODY bool is_below_zero(progress_watch const& losses) noexcept {
    std::string_view name{};
    falling_series const* const loss = losses.loss(name);
    return loss != nullptr && loss->samples() >= 10 && loss->beginning() < 0;
}

SPOTTER_COLD_BODY bool is_certain(finding const& it, diagnosis_limits const& limits) noexcept {
    if (it.tells_non_finite || it.tells_origin || is_raw(it, limits)) { return true; }
    if (it.id == rule_id::constant_batch) {
        // A few batches in turn; more of them are an epoch.
        return it.severity >= severity::warning &&
               (it.is<constant_batch>(constant_batch::same_batch) || it.measured > 0.9);
    }
    for (rule_id const rule : {rule_id::identity_activation, rule_id::output_mismatch, rule_id::stalled_training,
                               rule_id::rl_constant_reward, rule_id::rl_policy_ascends, rule_id::tree_depth}) {
        if (it.id == rule) { return true; }
    }
    return it.id == rule_id::dead_update_path &&
           (!it.is<dead_update_path>(dead_update_path::no_gradient) || it.measured >= 50);
}

SPOTTER_COLD_BODY bool is_raw(finding const& it, diagnosis_limits const& limits) noexcept {
    bool const off_centre = it.is<input_not_normalized>(input_not_normalized::outcome::off_centre);
    double const limit = limits.raw_input * (off_centre ? 1 : 2.5);
    return it.id == rule_id::input_not_normalized && it.how != relation::less && magnitude(it.measured) > limit;
}

SPOTTER_COLD_BODY bool weights_are_wrong(update_sizes const& weights, progress_watch const& losses,
                                         diagnosis_limits const& limits, finding& into) noexcept {
    double const least = losses.has_hardly_fallen() ? limits.small_step : update_sizes::next_to_nothing;
    return causes::rate_zero(weights, 20, into) || causes::rate_too_small(weights, least, 100, into) ||
           causes::initial_scale(weights, limits.initial_scale, into);
}

SPOTTER_COLD_BODY bool name_cause(run_evidence const& of, finding& into) noexcept {
    using namespace causes;
    bool const ill = of.ill();
    // What is wrong in the program, whatever the numbers.
    for (rule_id const rule : {rule_id::constant_batch, rule_id::identity_activation, rule_id::output_mismatch,
                               rule_id::rl_policy_ascends}) {
        episode const* const it = of.held(rule);
        if (it != nullptr && is_certain(it->latest, of.limits) && of_rule(it, into)) { return true; }
    }
    if (of_rule(of.held<dead_update_path>(dead_update_path::not_in_optimizer), into)) { return true; }
    if (symmetric(of, into)) { return true; }
    episode const* const input = of.held_at_first(rule_id::input_not_normalized);
    if (input != nullptr && is_raw(input->latest, of.limits)) { return of_rule(input, into); }
    if (initial_scale(of.weights, of.limits.initial_scale, into)) { return true; }
    if ((ill || of.dying) && is_negated(of)) { return loss_alone(of, into); }
    if ((ill || of.dying) && rate_too_large(of, into)) { return true; }
    if ((ill || of.dying) && dead_at_first(of, into)) { return true; }
    if (rate_zero(of.weights, 10, into)) { return true; }
    // A parameter without effect beside weights that hardly move is one of them.
    bool const hardly = of.held<dead_update_path>(dead_update_path::no_effect) != nullptr;
    double const least =
        ill || hardly || of.losses.has_hardly_fallen() ? of.limits.small_step : update_sizes::next_to_nothing;
    if (rate_too_small(of.weights, least, hardly ? 5 : ill ? 20 : 100, into)) { return true; }
    // Once told it stands; what is new has another cause.
    episode const* const dead = of.held<dead_update_path>(dead_update_path::no_gradient);
    if (dead != nullptr && !dead->alarmed) { return of_rule(dead, into); }
    if (of_rule(of.held<gradient_not_cleared>(gradient_not_cleared::holds_those_before), into)) { return true; }
    if (below_zero(of, into) || ((ill || of.dying) && climbs(of, into))) { return true; }
    if (of.bad_value && of.close <= 10 && rate_runs_away(of, into)) { return true; }
    if (ill) {
        for (rule_id const rule : {rule_id::rl_observation_range, rule_id::update_direction, rule_id::bf16_stall}) {
            if (of_rule(of.held(rule), into)) { return true; }
        }
    }
    // Momentum that fills its buffer looks the same for a while.
    episode const* const piles = of.held(rule_id::gradient_not_cleared);
    bool const lately = piles != nullptr && piles->last + 20 >= of.close;
    if (lately && of.progress != progress::worsens) {
        return is_negated(of) ? loss_alone(of, into) : of_rule(piles, into);
    }
    if (ill) {
        if (input != nullptr && is_wide(input->latest) && of_rule(input, into)) { return true; }
        if (stays_alike(of, into)) { return true; }
        for (rule_id const rule :
             {rule_id::gradient_depth_ratio, rule_id::vanishing_gradient, rule_id::saturated_activation}) {
            if (of_rule(of.held_at_first(rule), into)) { return true; }
        }
        if (rate_runs_away(of, into)) { return true; }
    }
    for (rule_id const rule : {rule_id::no_better_than_guessing, rule_id::unrelated_predictions}) {
        if (episode const* const guess = of.held(rule); guess != nullptr) {
            return rate_too_large(of, into) || rate_runs_away(of, into) || of_rule(guess, into);
        }
    }
    if (of.progress == progress::worsens) { return loss_alone(of, into); }
    bool const worse_in_evaluation = of.held(rule_id::overfit) != nullptr || of.held(rule_id::overtraining) != nullptr;
    if (worse_in_evaluation && of_rule(of.held(rule_id::constant_batch), into)) { return true; }
    if ((ill || worse_in_evaluation) && of_rule(of.held(rule_id::class_imbalance), into)) { return true; }
    if (not_carried_over(of, into)) { return true; }
    for (rule_id const rule :
         {rule_id::tree_depth, rule_id::dead_update_path, rule_id::all_zero, rule_id::dead_relu, rule_id::dormant_units,
          rule_id::saturated_activation, rule_id::vanishing_gradient, rule_id::gradient_depth_ratio,
          rule_id::output_collapse, rule_id::rl_kl, rule_id::underfit, rule_id::overfit, rule_id::overtraining}) {
        if (of_rule(of.held(rule), into)) { return true; }
    }
    return loss_alone(of, into) || strongest(of, into);
}

}  // namespace spotter::inline SPOTTER_ABI::detail
