// SPDX-License-Identifier: Apache-2.0
// Diagnosis (L2): what explains what. One function a cause, in the order in which they explain each other: a step larger than the
// weights explains dead units, not the other way round.
#pragma once

#include <spotter/diagnosis/evidence.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

namespace causes {

// A weight matrix whose update ratio or initial scale is the largest.
struct extreme_weight {
    std::string_view name{};
    double value = 0;
};

// The first weight in the order of the program that has the largest value of `read(weight)`; and how many were seen.
template <class Read>
[[nodiscard]] extreme_weight largest(update_sizes const& weights, Read&& read) noexcept {
    extreme_weight found;
    weights.each([&](std::string_view name, update_sizes::weight const& it) {
        double const value = read(it);
        if (value > found.value) { found = {name, value}; }
    });
    return found;
}

[[nodiscard]] inline finding told(std::string_view name, std::string_view reason, std::string_view tensor, std::string_view measure,
                                  double measured, relation how, double threshold, std::string_view remedy) noexcept {
    finding it;
    it.rule = name, it.reason = reason, it.tensor = tensor, it.measure = measure;
    it.measured = measured, it.how = how, it.threshold = threshold, it.remedy = remedy;
    return it;
}

inline constexpr double usual_ratio = 0.01;  // an update of a hundredth of the weights: large, and healthy

[[nodiscard]] inline finding large_rate(extreme_weight const& of, double limit) noexcept {
    finding it = told("learning_rate_too_large", of.value >= 1 ? "a step is larger than the weights" : "steps are large beside the weights",
                      of.name, "update ratio", of.value, relation::greater_equal, limit,
                      "Lower the learning rate until updates are a hundredth of the weights or less, or warm it up.");
    it.detail << "an update of 1 % takes the rate times " << usual_ratio / of.value;
    return it;
}
// One of the first steps was of the size of the weights.
[[nodiscard]] inline bool rate_too_large(evidence const& of, finding& into) noexcept {
    constexpr double limit = 0.5;
    extreme_weight const early = largest(of.weights, [](auto const& it) { return it.scale > 0.01 ? it.early : 0.0; });
    if (early.value < limit) { return false; }
    into = large_rate(early, limit);
    return true;
}
// Later steps are, lately.
[[nodiscard]] inline bool rate_runs_away(evidence const& of, finding& into) noexcept {
    double const limit = of.progress == progress::worsens ? 0.1 : 0.5;
    extreme_weight const lately = largest(of.weights, [](auto const& it) { return it.peak; });
    if (lately.value < limit) { return false; }
    into = large_rate(lately, limit);
    return true;
}

// Every weight matrix began with one value in all its elements: the units of a layer stay alike.
[[nodiscard]] inline bool is_symmetric(episode const& it, update_sizes const& weights) noexcept {
    std::uint32_t seen = 0;
    weights.each([&](std::string_view, auto const&) { ++seen; });
    return it.rule == "poor_weight_initialization" && it.reason.find("one value") != it.reason.npos && seen >= 2 &&
           it.latest.others + 1 >= seen;
}
[[nodiscard]] inline bool symmetric(evidence const& of, finding& into) noexcept {
    episode const* const it = of.held_at_first("poor_weight_initialization", "one value");
    if (it == nullptr || !(is_symmetric(*it, of.weights) || of.ill())) { return false; }
    into = it->latest;
    return true;
}

[[nodiscard]] inline bool initial_scale(evidence const& of, finding& into) noexcept {
    constexpr double limit = 6;
    extreme_weight const found = largest(of.weights, [](auto const& it) { return it.scale; });
    if (found.value < limit) { return false; }
    into = told("initial_weights_too_large", "weights begin too large for what flows through them", found.name,
                "root mean square times root of fan-in", found.value, relation::greater_equal, limit,
                "Initialise with variance 2/fan_in (ReLU) or 2/(fan_in + fan_out) (tanh, sigmoid).");
    return true;
}

// All weights rest, though the loop goes on; or move by less than float32 can add up to anything.
[[nodiscard]] inline bool rate_zero(evidence const& of, finding& into) noexcept {
    std::uint64_t resting = 0, moving = 0;
    std::string_view first{};
    std::uint64_t rests = 0;
    of.weights.each([&](std::string_view name, update_sizes::weight const& it) {
        (it.moves == 0 && it.rests >= 3 ? resting : moving) += 1;
        if (first.empty() && it.moves == 0) { first = name, rests = it.rests; }
    });
    if (resting == 0 || moving > 0) { return false; }
    into = told("learning_rate_zero", "no weight has ever moved", first, "observations without a change",
                static_cast<double>(rests), relation::greater_equal, 3,
                "Check that the learning rate is not zero, that the optimizer is stepped, and that it holds these parameters.");
    return true;
}

[[nodiscard]] inline bool rate_too_small(evidence const& of, finding& into) noexcept {
    constexpr double limit = 1e-5;
    std::uint64_t small = 0, seen = 0;
    extreme_weight most;
    of.weights.each([&](std::string_view name, update_sizes::weight const& it) {
        if (it.moves + it.rests < 20) { return; }
        ++seen;
        double const ratio = it.moves > 0 ? exponential(it.usual.value() / 0.434294481903251827651) : 0;
        small += ratio < limit ? 1 : 0;
        if (ratio >= most.value) { most = {name, ratio}; }
    });
    if (seen == 0 || small < seen) { return false; }
    into = told("learning_rate_too_small", "no weight moves by a hundred thousandth of itself in a step", most.name,
                "update ratio", most.value, relation::less, limit,
                "Raise the learning rate; updates of a thousandth of the weights are usual.");
    if (most.value > 0) { into.detail << "an update of 0.1 % takes the rate times " << 0.1 * usual_ratio / most.value; }
    return true;
}

// The rule's own finding.
[[nodiscard]] inline bool of_rule(episode const* it, finding& into) noexcept {
    if (it == nullptr) { return false; }
    into = it->latest;
    return true;
}

// What alarms, where nothing explains it.
[[nodiscard]] inline bool strongest(evidence const& of, finding& into) noexcept {
    episode const* best = nullptr;
    for (episode const& it : of.said) {
        if (it.last == of.close && (best == nullptr || it.latest.severity > best->latest.severity)) { best = &it; }
    }
    return of_rule(best, into);
}

// The loss itself, where nothing explains it.
[[nodiscard]] inline bool loss_alone(evidence const& of, finding& into) noexcept {
    if (of.progress != progress::flat && of.progress != progress::worsens) { return false; }
    std::string_view name{};
    falling_series const* const loss = of.losses.loss(name);
    if (loss == nullptr) { return false; }
    bool const worse = of.progress == progress::worsens;
    into = told("loss_not_decreasing", worse ? "loss rises" : "loss is flat", name, "loss", loss->level(),
                worse ? relation::greater : relation::greater_equal, loss->first(),
                worse ? "Lower the learning rate, and check the sign of the loss."
                      : "Check that labels belong to their inputs, and that gradients reach the weights; then raise the learning rate.");
    return true;
}

}  // namespace causes

SPOTTER_BODY bool name_cause(evidence const& of, finding& into) noexcept {
    using namespace causes;
    // What is wrong in the program, whatever the numbers.
    for (std::string_view const rule : {"constant_batch", "identity_activation", "output_mismatch", "bf16_stall"}) {
        if (of_rule(of.held(rule), into)) { return true; }
    }
    if (rate_zero(of, into)) { return true; }
    if (of_rule(of.held("dead_update_path", "not_in_optimizer"), into)) { return true; }
    if (symmetric(of, into)) { return true; }
    if (of.ill()) {
        if (of_rule(of.held_at_first("input_not_normalized"), into)) { return true; }
        if (of_rule(of.held_at_first("rl_observation_range"), into)) { return true; }
        if (initial_scale(of, into)) { return true; }
        if (rate_too_large(of, into)) { return true; }
        if (of_rule(of.held("update_direction"), into)) { return true; }
    }
    if (of_rule(of.held("gradient_not_cleared"), into)) { return true; }
    if (of.ill()) {
        for (std::string_view const rule : {"gradient_depth_ratio", "vanishing_gradient", "all_zero", "dead_relu", "saturated_activation"}) {
            if (of_rule(of.held_at_first(rule), into)) { return true; }
        }
        if (rate_runs_away(of, into)) { return true; }
        if (rate_too_small(of, into)) { return true; }
    }
    if (of_rule(of.held("dead_update_path", "no_effect"), into)) { return true; }
    for (std::string_view const rule :
         {"all_zero", "dead_relu", "dormant_units", "saturated_activation", "vanishing_gradient", "gradient_depth_ratio",
          "poor_weight_initialization", "dead_update_path", "input_not_normalized", "class_imbalance", "output_collapse",
          "rl_kl", "underfit", "overfit", "overtraining"}) {
        if (of_rule(of.held(rule), into)) { return true; }
    }
    return loss_alone(of, into) || strongest(of, into);
}

}  // namespace spotter::inline SPOTTER_ABI::detail
