// SPDX-License-Identifier: Apache-2.0
// Diagnosis (L2): what weights, their updates and their gradients show of a cause, and the finding that reports it.
#pragma once

#include <spotter/diagnosis/causes.hpp>
#include <spotter/rule/builtin/poor_weight_initialization.hpp>

namespace spotter::inline SPOTTER_ABI::detail::causes {

// A weight matrix with what it shows: an update ratio, an initial scale; and the step that showed it.
struct shown_weight {
    std::string_view name{};
    double value = 0;
    step_id at{};
};
// What is asked of a weight: a value; whether it matches what is looked for; whether it is judged at all.
struct weighed {
    double value = 0;
    bool matches = true, is_judged = true;
};
// How many weights were judged, and how many match.
struct tally {
    std::uint64_t judged = 0, matching = 0;
    shown_weight first{}, largest{};  // of those that match, in the order of the program; the largest is above zero

    [[nodiscard]] constexpr bool are_most() const noexcept { return 2 * matching > judged; }
    [[nodiscard]] constexpr bool are_all() const noexcept { return matching > 0 && matching >= judged; }
};
// `ask(weight)` answers with `weighed`. `at`: the member that holds the step.
template <class Ask>
[[nodiscard]] tally count(update_sizes const& weights, Ask&& ask,
                          step_id update_sizes::weight::* at = &update_sizes::weight::met_at) noexcept {
    tally all;
    weights.each([&](std::string_view name, update_sizes::weight const& it) {
        weighed const one = ask(it);
        all.judged += one.is_judged ? 1U : 0U;
        if (!one.matches) { return; }
        shown_weight const shown{name, one.value, it.*at};
        if (all.matching++ == 0) { all.first = shown; }
        if (one.value > all.largest.value) { all.largest = shown; }
    });
    return all;
}

// A finding of rule `who`. `at`: the step that showed it.
[[nodiscard]] inline finding found_by(rule_id who, std::string_view reason, std::string_view tensor,
                                      evidence const& why, step_id at, std::string_view remedy = {}) noexcept {
    finding it;
    it.attribute_to(who);
    it.reason = reason, it.tensor = tensor, it.measure = why.measure;
    it.measured = why.measured, it.how = why.how, it.threshold = why.threshold, it.remedy = remedy, it.step = at;
    return it;
}

// The same of the weights that match: it names the first, and how many others there are.
[[nodiscard]] inline finding found_by(rule_id who, std::string_view reason, tally const& these,
                                      std::string_view measure, relation how, double limit,
                                      std::string_view remedy = {}) noexcept {
    finding it =
        found_by(who, reason, these.first.name, {measure, these.first.value, limit, how}, these.first.at, remedy);
    it.others = static_cast<std::uint32_t>(these.matching - 1);
    return it;
}

// A weight has hardly moved if its largest update ratio is below `ratio`. From 50 updates on, also if their sum is
// below `path`; from 100 on, if their mean is below `mean`; from `after` on, if it is below `usual_mean` of a weight of
// the usual scale, 1; from 800 on, if it is below `long_mean`.
struct least_move {
    static constexpr std::uint64_t after = 500;
    double ratio = 0, path = 0, mean = 0, usual_mean = 0, long_mean = 0;

    // The least mean of its updates that moves a weight.
    [[nodiscard]] SPOTTER_STRICT constexpr double mean_of(update_sizes::weight const& it) const noexcept {
        SPOTTER_STRICT_BODY
        double least = it.moves >= 50 ? path / it.steps : 0;
        auto const raise = [&](std::uint64_t from, double to) {
            if (it.moves >= from && to > least) { least = to; }
        };
        raise(100, mean);
        raise(after, usual_mean / (it.scale > 0 && it.scale < 1 ? it.scale : 1));
        raise(800, long_mean);
        return least;
    }
};

inline constexpr double usual_ratio = 0.01;  // an update of a hundredth of the weights: large, but healthy

[[nodiscard]] SPOTTER_STRICT inline finding large_rate(shown_weight const& of, double limit) noexcept {
    SPOTTER_STRICT_BODY
    finding it = found_by(rule_id::learning_rate_too_large,
                          of.value >= 1 ? "a step is larger than the weights" : "steps are large beside the weights",
                          of.name, {"update ratio", of.value, limit, relation::greater_equal}, of.at);
    it.detail << "an update of 1 % takes the rate times " << usual_ratio / of.value << "; seen at "
              << name_of(of.at.mode) << '(' << of.at.index << ')';
    return it;
}
// In one of their first updates half of the weights or more leapt, of those that did not begin small. Weights of an
// earlier phase do not count.
[[nodiscard]] inline bool most_leapt(update_sizes const& weights, progress_watch const& losses,
                                     diagnosis_limits const& limits, finding& into) noexcept {
    double const limit = limits.large_step;
    std::uint64_t const began = losses.phase_began();
    auto const ask = [&](update_sizes::weight const& it) {
        bool const is_judged = it.scale > update_sizes::small_scale && it.early_at.index >= began;
        return weighed{it.early, is_judged && it.early >= limit, is_judged};
    };
    tally const all = count(weights, ask, &update_sizes::weight::early_at);
    if (all.matching == 0 || 2 * all.matching < all.judged) { return false; }
    into = large_rate(all.largest, limit);
    return true;
}
// The same, and the loss did not fall at first. Where all weights began at zero any first step is large: it was too
// large if the loss gets worse.
[[nodiscard]] inline bool leapt(run_evidence const& of, finding& into) noexcept {
    auto const* const loss = of.losses.loss();
    if (loss != nullptr && loss->train.fell_at_first()) { return false; }
    if (most_leapt(of.weights, of.losses, of.limits, into)) { return true; }
    tally const all = count(
        of.weights, [](update_sizes::weight const& it) { return weighed{it.early}; }, &update_sizes::weight::early_at);
    if (of.progress != progress::worsens || !of.weights.began_at_zero() || !(all.largest.value > 0)) { return false; }
    into = large_rate(all.largest, of.limits.large_step);
    return true;
}
// The weights that leapt after their first updates, if they are most. `by_a_jump`: those thrown by a gradient that
// jumped, if they are half of these or more; else all, if they are fewer. Not where the loss rose from the start, or
// began below zero: leaps are what becomes of a wrong sign.
[[nodiscard]] inline tally leaps_later(run_evidence const& of, bool by_a_jump) noexcept {
    auto const* const loss = of.losses.loss();
    if (loss != nullptr && (loss->train.first() < 0 || loss->train.rises_from_the_start())) { return {}; }
    std::uint64_t const began = of.losses.phase_began();
    auto const leap_of = [&](update_sizes::weight const& it) {
        double const later = it.highest_at.index >= began ? it.counted_later() : 0;
        return weighed{later, later >= of.limits.large_step, it.scale > update_sizes::small_scale};
    };
    auto const jump_of = [&](update_sizes::weight const& it) {
        return weighed{it.jump, leap_of(it).matches && it.was_thrown_by_a_jump()};
    };
    tally const leaps = count(of.weights, leap_of, &update_sizes::weight::highest_at);
    tally const jumps = count(of.weights, jump_of, &update_sizes::weight::jumped_at);
    bool const are_jumps = 2 * jumps.matching >= leaps.matching;
    if (!leaps.are_most() || are_jumps != by_a_jump) { return {}; }
    return by_a_jump ? jumps : leaps;
}
// As after a rate that jumps.
[[nodiscard]] inline bool leapt_later(run_evidence const& of, finding& into) noexcept {
    tally const all = leaps_later(of, false);
    if (all.matching > 0) { into = large_rate(all.largest, of.limits.large_step); }
    return all.matching > 0;
}
// Most gradients jumped, no weight leapt, and what the run had learned is lost: under Adam, such a gradient moves
// weights for many small steps, and then its square keeps them where they are.
[[nodiscard]] inline tally lost_after_a_jump(run_evidence const& of) noexcept {
    auto const* const loss = of.losses.loss();
    if (loss == nullptr || !loss->train.has_lost_progress()) { return {}; }
    auto const ask = [](update_sizes::weight const& it) {
        bool const is_recent = it.last_at.index - it.jumped_at.index <= 1000;
        return weighed{it.jump, it.jump > 0 && it.leapt_to == 0 && is_recent, it.scale > update_sizes::small_scale};
    };
    tally const all = count(of.weights, ask, &update_sizes::weight::jumped_at);
    return all.are_most() ? all : tally{};
}
// As after a batch with a value that is far too large.
[[nodiscard]] inline bool gradient_jumped(run_evidence const& of, finding& into) noexcept {
    tally all = leaps_later(of, true);
    if (all.matching == 0) { all = lost_after_a_jump(of); }
    if (all.matching == 0) { return false; }
    shown_weight const& it = all.largest;
    into = found_by(rule_id::gradient_spike, "one gradient is far larger than all before", it.name,
                    {"gradient over the largest before", it.value, update_sizes::far_above, relation::greater}, it.at);
    into.detail << "seen at " << name_of(it.at.mode) << '(' << it.at.index << ')';
    return true;
}
// The loss has risen from the start, or worsens and was never below its first value. Weights move one way in steps of
// usual size, or run away. Under a rate that is too large they go to and fro, or their first step is far larger.
[[nodiscard]] inline bool climbs_one_way(run_evidence const& of, finding& into) noexcept {
    std::string_view name{};
    auto const* const loss = of.losses.first_that(progress::worsens, name);
    if (loss == nullptr || loss->is_of_player || loss->train.fell_at_first()) { return false; }
    falling_series const& all = loss->train;
    bool const never_fell = all.says() == progress::worsens && all.lowest() >= all.first();
    bool const began_usual = !of.weights.leapt(of.limits.strong * of.limits.large_step);
    tally const straight = count(of.weights, [=](update_sizes::weight const& it) {
        return weighed{it.straightness(), it.runs_away() || (began_usual && it.grows_straight())};
    });
    bool const are_half = straight.matching > 0 && 2 * straight.matching >= straight.judged;
    if (!are_half || !(never_fell || all.rises_from_the_start())) { return false; }
    into = found_by(rule_id::update_direction, "the loss rises while weights move one way", name,
                    {"loss", all.level(), all.first(), relation::greater}, loss->trained_at);
    into.detail << "growth of \"" << straight.first.name << "\" over all its steps " << straight.first.value;
    return true;
}

// Over 500 updates and more most weights moved by a tenth of themselves on average: they keep nothing of what they
// learn.
[[nodiscard]] inline bool leap_on_average(update_sizes const& weights, double limit, finding& into) noexcept {
    tally const all = count(
        weights,
        [&](update_sizes::weight const& it) {
            bool const is_judged = it.moves >= least_move::after && !it.began_near_zero();
            double const mean = it.mean_update();
            return weighed{mean, is_judged && mean >= limit, is_judged};
        },
        &update_sizes::weight::last_at);
    if (!all.are_most()) { return false; }
    into = large_rate(all.largest, limit);
    into.measure = "mean update ratio";
    return true;
}
// Lately most weights leapt, or they do on average.
[[nodiscard]] inline bool leaps(run_evidence const& of, finding& into) noexcept {
    double const limit = of.limits.leap;
    auto const ask = [&](update_sizes::weight const& it) {
        return weighed{it.peak, it.peak >= limit && !it.has_vanished()};
    };
    tally const all = count(of.weights, ask, &update_sizes::weight::peak_at);
    if (!all.are_most()) { return leap_on_average(of.weights, limit, into); }
    into = large_rate(all.largest, limit);
    return true;
}

// Some elements of a weight are not finite, and the others are a hundred times as large as the weight was before: they
// grew there. A value that is not finite and came with the data leaves the others as they were.
[[nodiscard]] inline bool overflowed(run_evidence const& of, finding& into) noexcept {
    tally const all = count(
        of.weights,
        [](update_sizes::weight const& it) { return weighed{it.growth, it.growth >= update_sizes::overflowed}; },
        &update_sizes::weight::growth_at);
    if (all.matching == 0) { return false; }
    into = found_by(rule_id::learning_rate_too_large, "weights grow until they are not finite", all,
                    "growth of the finite elements", relation::greater_equal, update_sizes::overflowed);
    return true;
}

// More than half of the weight matrices, and at least two, began so large that each layer multiplies the size of its
// signals several times. The first loss is then above that of a guess among classes. Or one of several began far beyond
// that, with a mean square above 10: no usual initialisation, nor a table (1), draws such values. A single matrix has
// the units of its features.
[[nodiscard]] SPOTTER_STRICT inline bool initial_scale(update_sizes const& weights, progress_watch const& losses,
                                                       class_range const& classes, diagnosis_limits const& limits,
                                                       finding& into) noexcept {
    SPOTTER_STRICT_BODY
    double const limit = limits.initial_scale, far_beyond = limits.strong * limit;
    // One value: a table's rows are looked up, not summed.
    auto const beyond = [leap = limits.leap](double least, double mean_square) noexcept {
        return [=](update_sizes::weight const& it) {
            bool const is_large = it.scale >= least && !it.one_value && it.mean_square() > mean_square;
            return weighed{it.scale, is_large && it.shows_its_beginning(leap)};
        };
    };
    tally const all = count(weights, beyond(limit, 0)), extreme = count(weights, beyond(far_beyond, 10));
    auto const* const loss = losses.loss();
    bool const is_guess = loss != nullptr && classes.is_guess(loss->train.first());
    bool const are_most = all.matching >= 2 && all.are_most() && !is_guess;
    if (!are_most && (extreme.judged < 2 || extreme.matching == 0)) { return false; }
    into = found_by(rule_id::initial_weights_too_large, "weights begin too large for what flows through them",
                    are_most ? all : extreme, "root mean square times root of fan-in", relation::greater_equal,
                    are_most ? limit : far_beyond);
    return true;
}

inline constexpr double next_to_zero = 5e-3;  // a scale
// All weight matrices, and at least two, began below `least`. Signals fade from layer to layer, and so do gradients.
// One of several may: some programs begin their last layer so.
[[nodiscard]] inline bool begin_below(double least, update_sizes const& weights, diagnosis_limits const& limits,
                                      finding& into) noexcept {
    tally const all = count(weights, [&](update_sizes::weight const& it) {
        return weighed{it.scale, it.scale > 0 && it.scale < least && it.shows_its_beginning(limits.leap), it.scale > 0};
    });
    if (all.matching < 2 || all.matching < all.judged) { return false; }
    into = found_by(rule_id::poor_weight_initialization, "weights begin next to zero", all,
                    "root mean square times root of fan-in", relation::less, least, poor_weight_initialization::remedy);
    return true;
}

// More than half of the weight matrices have shrunk to half of what they began as.
[[nodiscard]] SPOTTER_STRICT inline bool shrank(update_sizes const& weights, finding& into) noexcept {
    SPOTTER_STRICT_BODY
    constexpr double little = 0.5;
    tally const all = count(weights, [&](update_sizes::weight const& it) {
        return weighed{it.first_size > 0 ? it.size / it.first_size : 0, it.size < little * it.first_size,
                       it.first_size > 0};
    });
    if (!all.are_most()) { return false; }
    into = found_by(rule_id::weight_decay_too_large, "weights shrink to nothing", all, "norm relative to the first",
                    relation::less, little);
    return true;
}

// Most weight matrices, and at least two, have shrunk to next to nothing.
[[nodiscard]] inline bool most_vanished(update_sizes const& weights) noexcept {
    tally const all =
        count(weights, [](update_sizes::weight const& it) { return weighed{0, it.has_vanished(), it.first_size > 0}; });
    return all.matching >= 2 && all.are_most();
}

// More than half of the weight matrices began at zero and have never moved: none passes a gradient to another.
[[nodiscard]] inline bool rest_at_zero(run_evidence const& of, finding& into) noexcept {
    tally const all = count(of.weights, [](update_sizes::weight const& it) {
        bool const is_zero = it.one_value && it.first_size == 0 && it.moves == 0;
        return weighed{0, is_zero && !it.pulled && it.rests >= update_sizes::first_updates};
    });
    if (all.matching < 2 || !all.are_most()) { return false; }
    into = found_by(rule_id::poor_weight_initialization, "weights began at zero, and stay there", all, "l2 norm",
                    relation::less_equal, 0, "Draw initial weights at random; zeros are for biases.");
    return true;
}

[[nodiscard]] inline finding at_rest(tally const& all, std::string_view why, std::uint64_t patience) noexcept {
    return found_by(rule_id::learning_rate_zero, why, all, "observations without a change", relation::greater_equal,
                    static_cast<double>(patience));
}
// No weight has ever moved, for `patience` observations.
[[nodiscard]] inline bool rate_zero(update_sizes const& weights, std::uint64_t patience, finding& into) noexcept {
    tally const all = count(weights, [&](update_sizes::weight const& it) {
        return weighed{static_cast<double>(it.rests), it.moves == 0 && it.rests >= patience};
    });
    if (!all.are_all() || weights.biases_move() || weights.nothing_pulls()) { return false; }
    into = at_rest(all, "no weight has ever moved", patience);
    return true;
}

// Every weight has moved, and none does any more: the rate has decayed to nothing.
[[nodiscard]] inline bool came_to_rest(update_sizes const& weights, finding& into) noexcept {
    constexpr std::uint64_t patience = 50;
    tally const all = count(weights, [](update_sizes::weight const& it) {
        bool const rests = it.moves > 0 && it.resting >= patience;
        return weighed{static_cast<double>(it.resting), rests && !it.has_converged()};
    });
    if (!all.are_all() || weights.nothing_pulls_now()) { return false; }
    into = at_rest(all, "no weight moves any more", patience);
    into.others = 0;
    return true;
}

// No weight moves any more, and the last update of one without a gradient was its largest, and a leap: that ended the
// training. A gradient would show whether something still pulls it.
[[nodiscard]] inline bool rest_after_a_leap(update_sizes const& weights, double leap) noexcept {
    finding unused;
    bool const leapt_last = weights.any([=](std::string_view, update_sizes::weight const& it) {
        return it.highest >= leap && it.highest_move == it.moves && !it.has_gradient;
    });
    return leapt_last && came_to_rest(weights, unused);
}

// No weight has ever moved by as much, of those that did not begin next to zero, though a gradient pulls.
[[nodiscard]] SPOTTER_STRICT inline bool rate_too_small(update_sizes const& weights, least_move const& least,
                                                        std::uint64_t patience, finding& into) noexcept {
    SPOTTER_STRICT_BODY
    std::uint64_t seen = 0, moved = 0;
    shown_weight most;
    evidence why;
    weights.each([&](std::string_view name, update_sizes::weight const& it) {
        if (it.began_near_zero() && it.moves > 0) { return; }
        bool const is_each = it.highest < least.ratio;
        double const on_average = it.mean_update(), limit = least.mean_of(it);
        ++seen;
        moved += (!is_each && !(on_average < limit)) || it.moves + it.rests < patience ? 1 : 0;
        if (it.highest < most.value) { return; }
        most = {name, it.highest, it.met_at};
        why = is_each ? evidence{"largest update ratio", it.highest, least.ratio, relation::less}
                      : evidence{"mean update ratio", on_average, limit, relation::less};
    });
    if (seen == 0 || moved > 0 || !(most.value > 0) || weights.nothing_pulls_now()) { return false; }
    into = found_by(rule_id::learning_rate_too_small, "steps are next to nothing beside the weights", most.name, why,
                    most.at);
    into.detail << "an update of 0.1 % takes the rate times " << 0.1 * usual_ratio / why.measured;
    return true;
}

// After so many updates all of them together are below `share` of each weight, for most weights that move: the net is
// as it began. Not while updates grow, as under a rate that warms up. Any step is large beside a weight that began next
// to zero: it only counts where it is near.
[[nodiscard]] SPOTTER_STRICT inline bool are_as_they_began(update_sizes const& weights, std::uint64_t updates,
                                                           double share, finding& into) noexcept {
    SPOTTER_STRICT_BODY
    tally const all = count(weights, [=](update_sizes::weight const& it) {
        bool const is_near = it.path < share && !(it.latest > 1.5 * it.mean_update());
        bool const is_judged = it.moves >= updates && (is_near || !it.began_near_zero());
        return weighed{it.path, is_judged && is_near, is_judged};
    });
    if (!all.are_most() || weights.nothing_pulls_now()) { return false; }
    into = found_by(rule_id::learning_rate_too_small, "weights are hardly away from where they began", all,
                    "sum of update ratios", relation::less, share);
    return true;
}

// The share of the loss that a step as long as a weight would change, by the gradients.
[[nodiscard]] SPOTTER_STRICT inline measurement share_to_gain(run_evidence const& of) noexcept {
    SPOTTER_STRICT_BODY
    auto const* const loss = of.losses.loss();
    measurement const pull = of.weights.strongest_pull();
    if (!pull.known || loss == nullptr || !(magnitude(loss->train.level()) > 0)) { return {}; }
    return {pull.value / magnitude(loss->train.level()), true};
}
inline constexpr double no_share = 1e-7;  // float32 has 24 bits

// Not even such a step would change the loss. Not where all weights began small: their products are next to zero.
[[nodiscard]] inline bool nothing_to_gain(run_evidence const& of, finding& into) noexcept {
    std::string_view name{};
    auto const* const loss = of.losses.loss(name);
    measurement const share = share_to_gain(of);
    bool const any_usual = of.weights.any(
        [](std::string_view, update_sizes::weight const& it) { return it.scale > update_sizes::small_scale; });
    if (!any_usual || !share.known || !(share.value < no_share)) { return false; }
    evidence const why{"share of the loss that a step as long as a weight changes", share.value, no_share,
                       relation::less};
    into = found_by(rule_id::vanishing_gradient, "gradients are next to nothing beside weights and loss", name, why,
                    loss->trained_at,
                    "Look for saturated units, as after steps that were too large, for a loss or gradients that are "
                    "scaled to nothing, and for equal samples.");
    return true;
}
// All weight matrices began next to zero; or small, and such a step would not change the loss.
[[nodiscard]] inline bool pass_nothing(run_evidence const& of, finding& into) noexcept {
    if (begin_below(next_to_zero, of.weights, of.limits, into)) { return true; }
    measurement const share = share_to_gain(of);
    return share.known && share.value < no_share && begin_below(update_sizes::small_scale, of.weights, of.limits, into);
}

// Nothing is learned, and by the gradients all updates so far together could not have changed the loss by `least_fall`,
// though a step as long as a weight could. Where all weights began at zero, no step has that length: they could not
// have changed it by `flat_fall`, and the loss has hardly fallen.
[[nodiscard]] SPOTTER_STRICT inline bool falls_short(run_evidence const& of, finding& into) noexcept {
    SPOTTER_STRICT_BODY
    auto const* const loss = of.losses.loss();
    measurement const reach = of.weights.reach();
    bool const flat = of.progress == progress::flat;
    bool const from_zero = of.weights.began_at_zero() && (flat || of.losses.has_hardly_fallen());
    if (!(flat || from_zero) || loss == nullptr || !reach.known || !(reach.value > 0)) { return false; }
    double const least = from_zero ? of.limits.progress.flat_fall : of.limits.progress.least_fall;
    double const level = magnitude(loss->train.level());
    bool const may_gain = from_zero || of.weights.strongest_pull().value >= least * level;
    if (!(reach.value < least * level) || !may_gain) { return false; }
    shown_weight const most =
        count(of.weights, [](update_sizes::weight const& it) { return weighed{it.highest}; }).largest;
    into = found_by(
        rule_id::learning_rate_too_small, "all steps together cannot change the loss", most.name,
        {"share of the loss that all updates can change, by the gradients", reach.value / level, least, relation::less},
        most.at);
    into.detail << "largest update ratio " << most.value;
    return true;
}

// Closes with zero gradients after which none arrives. An agent gathers experience for long without any.
[[nodiscard]] inline std::uint64_t zeros_in_a_row(progress_watch const& losses) noexcept {
    return losses.judges_returns() ? 20'000 : 50;
}

// Every gradient is zero, and the loss is not.
[[nodiscard]] inline bool nothing_arrives(run_evidence const& of, finding& into) noexcept {
    if (!gradients_are_zero(of.weights, of.losses)) { return false; }
    double const closes = static_cast<double>(of.weights.closes_without_pull());
    tally const all =
        count(of.weights, [&](update_sizes::weight const& it) { return weighed{closes, it.has_gradient}; });
    into = found_by(rule_id::dead_update_path, "every gradient is zero", all, "steps in a row", relation::greater_equal,
                    static_cast<double>(zeros_in_a_row(of.losses)),
                    "Look for a dead layer, an input that is all zero, or a loss that is detached from the net.");
    return true;
}

// The same where gradients were not zero before, or no weight moves any more, and some update was a tenth of its
// weight: that killed the units.
[[nodiscard]] inline bool killed(run_evidence const& of, finding& into) noexcept {
    bool const lived = of.weights.any([](std::string_view, update_sizes::weight const& it) { return it.pulled; });
    bool const is_dead = lived && gradients_are_zero(of.weights, of.losses);
    if (!is_dead && !rest_after_a_leap(of.weights, of.limits.leap)) { return false; }
    tally const all = count(
        of.weights,
        [&](update_sizes::weight const& it) {
            bool const began = it.scale > update_sizes::begun;
            return weighed{it.highest, began && it.highest >= of.limits.leap};
        },
        &update_sizes::weight::highest_at);
    if (all.matching > 0) { into = large_rate(all.largest, of.limits.leap); }
    return all.matching > 0;
}

// After 750 updates most weights have moved by less than a hundredth of themselves in all; or by less than a tenth,
// where little is learned.
[[nodiscard]] inline bool moved_little_in_all(update_sizes const& weights, progress_watch const& losses,
                                              finding& into) noexcept {
    double const share = losses.has_gained_little() ? 0.1 : update_sizes::far_enough;
    return are_as_they_began(weights, 750, share, into);
}

// An update below `next_to_nothing` never learns. One below `small_step` is too small where nothing is learned, and so
// is a mean below `little`. Where little is learned, updates are too small that together are below a hundredth of the
// weight, or on average below `small_step`; where the loss falls evenly all the time, below `slow_step`.
[[nodiscard]] inline least_move least_update(progress now, progress_watch const& losses,
                                             diagnosis_limits const& limits) noexcept {
    bool const learns = !is_ill(now) && !losses.has_hardly_fallen();
    bool const learns_much = !is_ill(now) && !losses.has_gained_little();
    return {.ratio = learns ? update_sizes::next_to_nothing : limits.small_step,
            .path = learns_much ? 0 : update_sizes::far_enough,
            .mean = is_ill(now) ? update_sizes::little : 0,
            .usual_mean = learns_much ? 0 : limits.small_step,
            .long_mean = losses.gains_slowly() ? limits.slow_step : 0};
}

}  // namespace spotter::inline SPOTTER_ABI::detail::causes
