// SPDX-License-Identifier: Apache-2.0
// Diagnosis (L2): what weights, their updates and their gradients show of a cause, and the finding that reports it.
#pragma once

#include <spotter/diagnosis/causes.hpp>

namespace spotter::inline SPOTTER_ABI::detail::causes {

// The weight matrix with the largest update ratio or initial scale, and the step that showed it.
struct extreme_weight {
    std::string_view name{};
    double value = 0;
    step_id at{};
};

// The weight with the largest value of `read(weight)`; of equals, the first in the order of the program. `at`: the
// member that holds the step.
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

// A finding of rule `who`. `at`: the step that showed it.
[[nodiscard]] inline finding found_by(rule_id who, std::string_view reason, std::string_view tensor,
                                      evidence const& why, step_id at, std::string_view remedy = {}) noexcept {
    finding it;
    it.attribute_to(who);
    it.reason = reason, it.tensor = tensor, it.measure = why.measure;
    it.measured = why.measured, it.how = why.how, it.threshold = why.threshold, it.remedy = remedy, it.step = at;
    return it;
}

inline constexpr double usual_ratio = 0.01;  // an update of a hundredth of the weights: large, but healthy

[[nodiscard]] SPOTTER_STRICT inline finding large_rate(extreme_weight const& of, double limit) noexcept {
    SPOTTER_STRICT_BODY
    finding it = found_by(rule_id::learning_rate_too_large,
                          of.value >= 1 ? "a step is larger than the weights" : "steps are large beside the weights",
                          of.name, {"update ratio", of.value, limit, relation::greater_equal}, of.at);
    it.detail << "an update of 1 % takes the rate times " << usual_ratio / of.value << "; seen at "
              << name_of(of.at.mode) << '(' << of.at.index << ')';
    return it;
}
// In their first updates half of the weights or more leapt, of those that did not begin next to zero, and the loss did
// not fall at first.
[[nodiscard]] inline bool leapt(run_evidence const& of, finding& into) noexcept {
    auto const* const loss = of.losses.loss();
    update_sizes::leap_counts const all = of.weights.count_leaps(of.limits.large_step, of.limits.leap);
    if (all.at_first == 0 || 2 * all.at_first < all.judged || (loss != nullptr && loss->train.fell_at_first())) {
        return false;
    }
    into =
        large_rate(largest(
                       of.weights, [](auto const& it) { return it.counted_early(); }, &update_sizes::weight::early_at),
                   of.limits.large_step);
    return true;
}
// A later update leapt, as after a rate that jumps. Not where the loss rose from the start, or began below zero: leaps
// are what becomes of a wrong sign.
[[nodiscard]] inline bool leapt_later(run_evidence const& of, finding& into) noexcept {
    auto const* const loss = of.losses.loss();
    if (loss != nullptr && (loss->train.first() < 0 || loss->train.rises_from_the_start())) { return false; }
    update_sizes::leap_counts const all = of.weights.count_leaps(of.limits.large_step, of.limits.leap);
    if (2 * all.later <= all.judged) { return false; }
    into = large_rate(
        largest(
            of.weights, [](auto const& it) { return it.counted_later(); }, &update_sizes::weight::highest_at),
        of.limits.large_step);
    return true;
}
// Lately most weights leapt.
[[nodiscard]] inline bool leaps(run_evidence const& of, finding& into) noexcept {
    update_sizes::leap_counts const all = of.weights.count_leaps(of.limits.large_step, of.limits.leap);
    if (2 * all.lately <= all.seen) { return false; }
    into = large_rate(
        largest(of.weights, [](auto const& it) { return it.peak; }, &update_sizes::weight::peak_at), of.limits.leap);
    return true;
}

// More than half of the weight matrices, and at least two, began so large that each layer multiplies the size of its
// signals several times.
[[nodiscard]] inline bool initial_scale(update_sizes const& weights, double limit, finding& into) noexcept {
    std::uint64_t large = 0, seen = 0;
    extreme_weight first;
    weights.each([&](std::string_view name, update_sizes::weight const& it) {
        ++seen;
        // One value: a table's rows are looked up, not summed.
        if (it.scale < limit || it.one_value || !it.from_the_start) { return; }
        if (large++ == 0) { first = {name, it.scale, it.met_at}; }
    });
    if (large < 2 || 2 * large <= seen) { return false; }
    into =
        found_by(rule_id::initial_weights_too_large, "weights begin too large for what flows through them", first.name,
                 {"root mean square times root of fan-in", first.value, limit, relation::greater_equal}, first.at);
    into.others = static_cast<std::uint32_t>(large - 1);
    return true;
}

// More than half of the weight matrices have shrunk to a tenth of what they began as.
[[nodiscard]] SPOTTER_STRICT inline bool shrank(run_evidence const& of, finding& into) noexcept {
    SPOTTER_STRICT_BODY
    constexpr double little = 0.1;
    std::uint64_t judged = 0, small = 0;
    extreme_weight first;
    of.weights.each([&](std::string_view name, update_sizes::weight const& it) {
        bool const is_small = it.size < little * it.first_size;
        judged += it.first_size > 0 ? 1U : 0U, small += is_small ? 1U : 0U;
        if (is_small && first.name.empty()) { first = {name, it.size / it.first_size, it.met_at}; }
    });
    if (2 * small <= judged) { return false; }
    into = found_by(rule_id::weight_decay_too_large, "weights shrink to nothing", first.name,
                    {"norm relative to the first", first.value, little, relation::less}, first.at);
    into.others = static_cast<std::uint32_t>(small - 1);
    return true;
}

// More than half of the weight matrices began at zero and have never moved: none passes a gradient to another.
[[nodiscard]] inline bool rest_at_zero(run_evidence const& of, finding& into) noexcept {
    std::uint64_t seen = 0, at_zero = 0;
    extreme_weight first;
    of.weights.each([&](std::string_view name, update_sizes::weight const& it) {
        bool const is_zero = it.from_the_start && it.one_value && it.first_size == 0 && it.moves == 0;
        bool const rests = is_zero && !it.pulled && it.rests >= update_sizes::first_updates;
        ++seen, at_zero += rests ? 1U : 0U;
        if (rests && first.name.empty()) { first = {name, 0, it.met_at}; }
    });
    if (at_zero < 2 || 2 * at_zero <= seen) { return false; }
    into = found_by(rule_id::poor_weight_initialization, "weights began at zero, and stay there", first.name,
                    {"l2 norm", 0, 0, relation::less_equal}, first.at,
                    "Draw initial weights at random; zeros are for biases.");
    into.others = static_cast<std::uint32_t>(at_zero - 1);
    return true;
}

[[nodiscard]] inline finding at_rest(extreme_weight const& first, std::string_view why,
                                     std::uint64_t patience) noexcept {
    return found_by(
        rule_id::learning_rate_zero, why, first.name,
        {"observations without a change", first.value, static_cast<double>(patience), relation::greater_equal},
        first.at);
}
// No weight has ever moved, for `patience` observations.
[[nodiscard]] inline bool rate_zero(update_sizes const& weights, std::uint64_t patience, finding& into) noexcept {
    std::uint64_t resting = 0, others = 0;
    extreme_weight first;
    weights.each([&](std::string_view name, update_sizes::weight const& it) {
        bool const rests = it.moves == 0 && it.rests >= patience;
        (rests ? resting : others) += 1;
        if (rests && first.name.empty()) { first = {name, static_cast<double>(it.rests), it.met_at}; }
    });
    if (resting == 0 || others > 0 || weights.nothing_pulls()) { return false; }
    into = at_rest(first, "no weight has ever moved", patience);
    into.others = static_cast<std::uint32_t>(resting - 1);
    return true;
}

// Every weight has moved, and none does any more: the rate has decayed to nothing.
[[nodiscard]] inline bool came_to_rest(update_sizes const& weights, finding& into) noexcept {
    constexpr std::uint64_t patience = 50;
    bool all_rest = !weights.nothing_pulls_now();
    extreme_weight first;
    weights.each([&](std::string_view name, update_sizes::weight const& it) {
        all_rest = all_rest && it.moves > 0 && it.resting >= patience;
        if (first.name.empty()) { first = {name, static_cast<double>(it.resting), it.met_at}; }
    });
    if (all_rest && !first.name.empty()) { into = at_rest(first, "no weight moves any more", patience); }
    return all_rest && !first.name.empty();
}

// Below this a weight has hardly moved: an update ratio. From 50 updates on, also one with which all of them together
// stay below the share `together` of the weight.
struct least_move {
    double ratio = 0, together = 0;

    [[nodiscard]] SPOTTER_STRICT constexpr double of(update_sizes::weight const& it) const noexcept {
        SPOTTER_STRICT_BODY
        double const each = it.moves >= 50 ? together / static_cast<double>(it.moves) : 0;
        return each > ratio ? each : ratio;
    }
};
// No weight has ever moved by more than `limit` of itself in a step.
[[nodiscard]] SPOTTER_STRICT inline bool rate_too_small(update_sizes const& weights, least_move const& least,
                                                        std::uint64_t patience, finding& into) noexcept {
    SPOTTER_STRICT_BODY
    std::uint64_t seen = 0, moved = 0;
    extreme_weight most;
    double limit = least.ratio;
    weights.each([&](std::string_view name, update_sizes::weight const& it) {
        double const of_weight = least.of(it);
        ++seen;
        moved += it.highest >= of_weight || it.moves + it.rests < patience ? 1 : 0;
        if (it.highest >= most.value) { most = {name, it.highest, it.met_at}, limit = of_weight; }
    });
    if (seen == 0 || moved > 0 || !(most.value > 0)) { return false; }
    into = found_by(rule_id::learning_rate_too_small, "steps are next to nothing beside the weights", most.name,
                    {"largest update ratio", most.value, limit, relation::less}, most.at);
    into.detail << "an update of 0.1 % takes the rate times " << 0.1 * usual_ratio / most.value;
    return true;
}

// By the gradients, not even a step as long as the weights would change the loss, in float32 of 24 bits.
[[nodiscard]] SPOTTER_STRICT inline bool nothing_to_gain(run_evidence const& of, finding& into) noexcept {
    SPOTTER_STRICT_BODY
    std::string_view name{};
    auto const* const loss = of.losses.loss(name);
    measurement const pull = of.weights.strongest_pull();
    if (!pull.known || loss == nullptr || !(magnitude(loss->train.level()) > 0)) { return false; }
    constexpr double least = 1e-7;
    double const change = pull.value / magnitude(loss->train.level());
    if (!(change < least)) { return false; }
    into = found_by(
        rule_id::saturated_activation, "gradients are next to nothing beside weights and loss", name,
        {"share of the loss that a step as long as a weight changes", change, least, relation::less}, loss->trained_at,
        "Units are saturated, as after steps that were too large: begin anew with a tenth of the rate, smaller "
        "weights or normalised inputs. A larger rate does not help.");
    return true;
}

// Nothing is learned, and by the gradients all updates so far together could not have changed the loss by `least_fall`,
// though a step as long as a weight could.
[[nodiscard]] SPOTTER_STRICT inline bool falls_short(run_evidence const& of, finding& into) noexcept {
    SPOTTER_STRICT_BODY
    auto const* const loss = of.losses.loss();
    measurement const reach = of.weights.reach();
    if (of.progress != progress::flat || loss == nullptr || !reach.known || !(reach.value > 0)) { return false; }
    double const least = of.limits.progress.least_fall, level = magnitude(loss->train.level());
    if (!(reach.value < least * level && of.weights.strongest_pull().value >= least * level)) { return false; }
    extreme_weight const most =
        largest(of.weights, [](auto const& it) { return it.highest; }, &update_sizes::weight::met_at);
    into = found_by(
        rule_id::learning_rate_too_small, "all steps together cannot change the loss", most.name,
        {"share of the loss that all updates can change, by the gradients", reach.value / level, least, relation::less},
        most.at);
    into.detail << "largest update ratio " << most.value;
    return true;
}

// A run that makes no progress has hardly moved if all its updates together are below a hundredth of the weights.
[[nodiscard]] inline least_move least_update(run_evidence const& of) noexcept {
    bool const learns = !is_ill(of.progress) && !of.losses.has_hardly_fallen();
    return learns ? least_move{update_sizes::next_to_nothing} : least_move{of.limits.small_step, 0.01};
}

}  // namespace spotter::inline SPOTTER_ABI::detail::causes
