// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), inside: central differences of the loss along random directions, and what the gradient predicts for
// them.
#pragma once

#include <spotter/preflight/examiner.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Indices of parameters.
using tensor_group = std::vector<std::size_t>;

// A point on the path between both ends of a difference: `at` goes from -1 to 1. The slope is that of the loss along
// the path, by the gradient there; NaN where none was computed.
struct path_point {
    double at = 0, loss = 0, slope = 0;
};

// One direction of random signs, in which each tensor moves by its own step. A prediction is the product of the
// gradient and the difference of the weights as they were rounded, one for each tensor of the group. `by_weights` and
// `by_signs` are the same for the weights (a gradient that includes a decay) and their signs.
struct difference {
    double change = 0;  // of the loss, between both ends
    // The sum of both losses less twice the one in the middle: it contains rounding, kinks and curvature, and no
    // gradient.
    double bend = 0;
    double_list predictions{}, by_weights{}, by_signs{};
    double_list units{};             // for each tensor: the root mean square of its prediction over all signs
    std::vector<path_point> path{};  // from one end to the other
    double bent = 0;                 // what the gradients along the path predict beyond the gradient in the middle

    [[nodiscard]] double prediction() const noexcept;  // sum over all tensors
    // Sets `bent`: the integral of the slopes, by trapezoids, less that of the slope in the middle.
    void follow_path() noexcept;
    // The variance that kinks between two points of the path add to the residual. A kink changes the slope, anywhere
    // between both; two may cancel in the slope, and leave a rest above `least`.
    [[nodiscard]] double kink_variance(std::size_t part, double least) const noexcept;
    // The variance of the residual, from the parts of the path: kinks and rounding.
    [[nodiscard]] double path_variance() const noexcept;
    [[nodiscard]] double residual() const noexcept { return change - prediction(); }
};

// Differences of one group along several directions with successive numbers.
struct difference_sample {
    std::vector<difference> differences{};
    std::uint64_t first_direction = 0;
    double times = 1;      // length of the steps, relative to those of the probe; below one: the shorter ones
    bool by_path = false;  // predictions are integrals along the paths

    [[nodiscard]] double_list residuals() const;
    [[nodiscard]] bool finite() const noexcept;
    // Root mean square of the residuals. Not the median: the error of one element shows only in directions that move it
    // far.
    [[nodiscard]] double residual() const { return rms_of(residuals()); }
    // The standard deviation of the bends: a kink on one side, or rounding of a loss, changes the residual and the bend
    // by the same amount. Along paths, that of the residuals.
    [[nodiscard]] double roughness() const;
    // Root mean square of the prediction of the tensor at index `place` of the group, over all signs.
    [[nodiscard]] double unit(std::size_t place) const noexcept;
};

// A decay that gradients include: `lambda` times the weights, or their signs; in all tensors, or in matrices alone.
struct decay_form {
    double lambda = 0;
    bool by_signs = false, of_matrices = false;
};

// A point in the space of weights, with the loss and gradient there.
struct probe {
    double_list weights{}, gradient{};
    double loss = 0;
    double noise = 0;             // rounding noise of one loss
    double_list steps{};          // for each parameter: how far it is moved
    double_list shorter_steps{};  // likewise for shorter steps: a quarter, or what keeps the share above four times the
                                  // rounding
    decay_form decay{};           // was subtracted from the gradient
    // Gradient elements of this size were clipped to it; their weights are not moved.
    double clipped = std::numeric_limits<double>::infinity();

    // The step of a tensor, `times` as long; where that is below one, the shorter step.
    [[nodiscard]] double step(std::size_t tensor, double times) const noexcept {
        return times < 1 ? shorter_steps[tensor] : steps[tensor] * times;
    }
    // The noise of a difference of two losses.
    [[nodiscard]] double pair_noise() const noexcept { return 1.4142135623730951 * noise; }
};

// Finds whether gradient elements were clipped to one largest size. In gradients without clipping, at most two elements
// share the largest size (a softmax of two classes), and it is no round number.
void find_clipping(probe& at);

// Chooses steps for which rounding is `share` of what each tensor predicts, |gradient| times twice the step. Steps are
// at most 1e-2 of the weights' size, as curvature of the loss matters above; and at least 1e-4 of it (double 1e-6, bf16
// half a spacing), as rounding of weights matters below.
void choose_steps(examiner& all, probe& at, double share);

// Writes both ends of one tensor for a direction, known by its number. Each element moves by a random sign times 0.1 or
// 1.9 of the step. A kink then lies in some directions only, and shows as a difference between bends. Ends are
// symmetric, and numbers of the tensor's type.
void move_ends(examiner const& all, probe const& at, std::size_t tensor, double times, std::uint64_t direction,
               double_list& up, double_list& down);

// Measures along a direction, with steps `times` as long as those of the probe. `from` and `to`, where given, restrict
// the only tensor of the group to these elements.
[[nodiscard]] difference difference_along(examiner& all, probe const& at, tensor_group const& group, double times,
                                          std::uint64_t direction, std::size_t from = 0,
                                          std::size_t to = static_cast<std::size_t>(-1));

// Adds a point to the path of a difference of this group, direction and length: one pass with its gradient.
void add_point(examiner& all, probe const& at, tensor_group const& group, double times, std::uint64_t direction,
               double place, difference& into);

// Subtracts a decay from a gradient at these weights.
void take_off(std::vector<parameter> const& tensors, decay_form const& it, double_list const& weights,
              double_list& gradient);

// The best fit of change = `kappa` * prediction. Root mean squares: `predicted`, `changed`, and `left`, which the
// factor does not explain.
struct multiple {
    double kappa = 0, predicted = 0, left = 0, changed = 0;
};
[[nodiscard]] multiple multiple_of(difference_sample const& sample);

// The decay that explains most of the residuals: residual = -lambda * (what the weights predict). It explains at least
// two thirds, which chance does once in thousands. Has the form of `known`, where that is known; lambda 0: none.
[[nodiscard]] decay_form find_decay(std::vector<parameter> const& tensors, tensor_group const& group,
                                    difference_sample const& sample, decay_form const& known);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <numeric>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY double difference::prediction() const noexcept {
    return std::accumulate(predictions.begin(), predictions.end(), bent);
}

SPOTTER_BODY void difference::follow_path() noexcept {
    bent = 0;
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
        bent += (path[i].slope + path[i + 1].slope) / 2 * (path[i + 1].at - path[i].at);
    }
    for (path_point const& each : path) { bent -= each.at == 0 ? 2 * each.slope : 0.0; }
}

// What one part of a path leaves beyond its share of the residual: a wrong gradient leaves that in every part.
[[nodiscard]] inline double rest_of(difference const& it, std::size_t part) noexcept {
    path_point const &from = it.path[part], &to = it.path[part + 1];
    double const length = to.at - from.at;
    return to.loss - from.loss - (from.slope + to.slope + it.residual()) / 2 * length;
}

SPOTTER_BODY double difference::kink_variance(std::size_t part, double least) const noexcept {
    path_point const &from = path[part], &to = path[part + 1];
    double const jump = (to.slope - from.slope) * (to.at - from.at), rest = rest_of(*this, part);
    return (std::max)(jump * jump / 12, magnitude(rest) > least ? rest * rest : 0.0);
}

SPOTTER_BODY double difference::path_variance() const noexcept {
    double const parts = static_cast<double>(path.size()) - 1;
    double kinks = 0, rests = 0;
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
        double const rest = rest_of(*this, i);
        kinks += kink_variance(i, std::numeric_limits<double>::infinity()), rests += rest * rest;
    }
    return (std::max)(kinks, rests * parts / (parts - 1));
}

SPOTTER_BODY double_list difference_sample::residuals() const {
    double_list made;
    for (difference const& each : differences) { made.push_back(each.residual()); }
    return made;
}

SPOTTER_BODY bool difference_sample::finite() const noexcept {
    return std::all_of(differences.begin(), differences.end(),
                       [](difference const& each) { return is_finite(each.change) && is_finite(each.bend); });
}

SPOTTER_BODY double difference_sample::roughness() const {
    if (by_path) {
        double sum = 0;
        for (difference const& each : differences) { sum += each.path_variance(); }
        return std::sqrt(sum / static_cast<double>(differences.size()));
    }
    double_list bends;
    for (difference const& each : differences) { bends.push_back(each.bend); }
    return mean_and_deviation{bends}.deviation;  // the mean, which all directions share, is no roughness
}

SPOTTER_BODY double difference_sample::unit(std::size_t place) const noexcept {
    double sum = 0;
    for (difference const& each : differences) { sum += each.units[place] * each.units[place]; }
    return differences.empty() ? 0 : std::sqrt(sum / static_cast<double>(differences.size()));
}

// One digit times a power of ten, as limits usually are, to the last bit of a float.
[[nodiscard]] inline bool is_round(double value) noexcept {
    for (double power = 1e-6; power < 1e6; power *= 10) {
        for (int digit = 1; digit < 10; ++digit) {
            if (static_cast<float>(digit * power) == static_cast<float>(value)) { return true; }
        }
    }
    return false;
}

SPOTTER_BODY void find_clipping(probe& at) {
    double largest = 0;
    std::size_t cut = 0;
    for (double const each : at.gradient) { largest = (std::max)(largest, magnitude(each)); }
    for (double const each : at.gradient) { cut += magnitude(each) == largest ? 1U : 0U; }
    bool const is_limit = largest > 0 && (cut > 2 || is_round(largest));
    at.clipped = is_limit ? largest : std::numeric_limits<double>::infinity();
}

SPOTTER_BODY void choose_steps(examiner& all, probe& at, double share) {
    std::vector<parameter> const& tensors = all.loop.parameters();
    at.steps.assign(tensors.size(), 0.0), at.shorter_steps.assign(tensors.size(), 0.0);
    for (std::size_t t = 0; t < tensors.size(); ++t) {
        double const scale = all.scale_of(tensors[t], at.weights), spacing = spacing_of(tensors[t].type),
                     most = 1e-2 * scale;
        double const least = (spacing < 1e-10 ? 1e-6 : (std::max)(1e-4, spacing / 2)) * scale;
        double square = 0;
        for (double const g : tensors[t].of(at.gradient)) { square += magnitude(g) < at.clipped ? g * g : 0.0; }
        double const size = std::sqrt(square);
        double const wanted = size > 0 ? at.pair_noise() / (share * 2 * size) : most;
        at.steps[t] = std::clamp(wanted, least, most);
        at.shorter_steps[t] = std::clamp(wanted / 4, at.steps[t] / 4, at.steps[t]);
    }
}

SPOTTER_BODY void move_ends(examiner const& all, probe const& at, std::size_t tensor, double times,
                            std::uint64_t direction, double_list& up, double_list& down) {
    parameter const& it = all.loop.parameters()[tensor];
    random_numbers signs{direction * 0x9E3779B97F4A7C15U + tensor};
    double const step = at.step(tensor, times);
    for (std::size_t i = it.first; i < it.first + it.count; ++i) {
        double const w = at.weights[i], sign = signs.sign() * (1 + 0.9 * signs.sign());
        double high = rounded_to(it.type, w + sign * step);
        // The step is below the spacing: takes the next number.
        if (high == w) { high = rounded_to(it.type, w + std::copysign(spacing_of(it.type), sign) * magnitude(w)); }
        if (magnitude(at.gradient[i]) >= at.clipped) { high = w; }
        up[i] = high;
        down[i] = rounded_to(it.type, w - (high - w));
    }
}

// Both ends of a whole group.
inline void move_group(examiner const& all, probe const& at, tensor_group const& group, double times,
                       std::uint64_t direction, double_list& up, double_list& down) {
    up = down = at.weights;
    for (std::size_t const t : group) { move_ends(all, at, t, times, direction, up, down); }
}

// The slope of the loss along the path between both ends, by a gradient at these weights.
[[nodiscard]] inline double slope_along(examiner const& all, probe const& at, tensor_group const& group,
                                        double_list const& up, double_list const& down, double_list const& weights,
                                        double_list& gradient) {
    if (gradient.empty()) { return std::numeric_limits<double>::quiet_NaN(); }
    take_off(all.loop.parameters(), at.decay, weights, gradient);
    double slope = 0;
    for (std::size_t const t : group) {
        parameter const& it = all.loop.parameters()[t];
        for (std::size_t i = it.first; i < it.first + it.count; ++i) { slope += gradient[i] * (up[i] - down[i]) / 2; }
    }
    return slope;
}

SPOTTER_BODY void take_off(std::vector<parameter> const& tensors, decay_form const& it, double_list const& weights,
                           double_list& gradient) {
    if (it.lambda == 0) { return; }
    for (parameter const& each : tensors) {
        if (it.of_matrices && !each.is_matrix()) { continue; }
        for (std::size_t i = each.first; i < each.first + each.count; ++i) {
            double const w = weights[i];
            gradient[i] -= it.lambda * (it.by_signs ? (w > 0 ? 1.0 : w < 0 ? -1.0 : 0.0) : w);
        }
    }
}

SPOTTER_BODY void add_point(examiner& all, probe const& at, tensor_group const& group, double times,
                            std::uint64_t direction, double place, difference& into) {
    double_list up, down, weights = at.weights, gradient;
    move_group(all, at, group, times, direction, up, down);
    for (std::size_t i = 0; i < weights.size(); ++i) {
        weights[i] = place == 1 ? up[i] : place == -1 ? down[i] : weights[i] + place * (up[i] - down[i]) / 2;
    }
    all.loop.go_to(weights);
    double const loss = all.loop.pass(gradient);
    all.loop.go_to(at.weights);
    double const slope = slope_along(all, at, group, up, down, weights, gradient);
    auto const next =
        std::find_if(into.path.begin(), into.path.end(), [&](path_point const& each) { return each.at >= place; });
    if (next != into.path.end() && next->at == place) {
        next->slope = slope;
    } else {
        into.path.insert(next, {place, loss, slope});
    }
}

SPOTTER_BODY difference difference_along(examiner& all, probe const& at, tensor_group const& group, double times,
                                         std::uint64_t direction, std::size_t from, std::size_t to) {
    subject& loop = all.loop;
    double_list up, down, above, below;
    move_group(all, at, group, times, direction, up, down);
    for (std::size_t const t : group) {
        parameter const& it = loop.parameters()[t];
        for (std::size_t i = 0; i < it.count; ++i) {
            if (i < from || i >= to) { up[it.first + i] = down[it.first + i] = at.weights[it.first + i]; }
        }
    }
    loop.go_to(up);
    double const high = loop.loss(above);
    loop.go_to(down);
    double const low = loop.loss(below);
    loop.go_to(at.weights);
    difference made;
    made.change = high - low, made.bend = high + low - 2 * at.loss;
    made.path = {{-1, low, slope_along(all, at, group, up, down, down, below)},
                 {0, at.loss, 0},
                 {1, high, slope_along(all, at, group, up, down, up, above)}};
    for (std::size_t const t : group) {
        parameter const& it = loop.parameters()[t];
        double predicted = 0, by_weights = 0, by_signs = 0, unit = 0;
        for (std::size_t i = it.first; i < it.first + it.count; ++i) {
            double const apart = up[i] - down[i], w = at.weights[i], along = at.gradient[i] * apart;
            predicted += along, unit += along * along;
            by_weights += w * apart;
            by_signs += (w > 0 ? apart : w < 0 ? -apart : 0.0);
        }
        made.predictions.push_back(predicted), made.by_weights.push_back(by_weights);
        made.by_signs.push_back(by_signs), made.units.push_back(std::sqrt(unit));
        made.path[1].slope += predicted / 2;
    }
    return made;
}

SPOTTER_BODY multiple multiple_of(difference_sample const& sample) {
    double along = 0, predicted = 0, changed = 0, left = 0;
    for (difference const& each : sample.differences) {
        double const prediction = each.prediction();
        along += each.change * prediction, predicted += prediction * prediction, changed += each.change * each.change;
    }
    double const kappa = along / predicted, count = static_cast<double>(sample.differences.size());
    for (difference const& each : sample.differences) {
        double const apart = each.change - kappa * each.prediction();
        left += apart * apart;
    }
    return {kappa, std::sqrt(predicted / count), std::sqrt(left / count), std::sqrt(changed / count)};
}

SPOTTER_BODY decay_form find_decay(std::vector<parameter> const& tensors, tensor_group const& group,
                                   difference_sample const& sample, decay_form const& known) {
    decay_form best{};
    double_list residuals;  // of the gradient in the middle, where the signs of weights are known
    for (difference const& each : sample.differences) { residuals.push_back(each.residual() + each.bent); }
    double least = rms_of(residuals) / 3;
    auto const try_form = [&](bool by_signs, bool of_matrices) {
        double along = 0, square = 0;
        double_list decays, rests = residuals;
        for (difference const& each : sample.differences) {
            double decay = 0;
            for (std::size_t i = 0; i < group.size(); ++i) {
                bool const counts = !of_matrices || tensors[group[i]].is_matrix();
                decay += counts ? (by_signs ? each.by_signs[i] : each.by_weights[i]) : 0.0;
            }
            along -= rests[decays.size()] * decay, square += decay * decay;
            decays.push_back(decay);
        }
        double const lambda = square > 0 ? along / square : 0;
        for (std::size_t k = 0; k < rests.size(); ++k) { rests[k] += lambda * decays[k]; }
        double const left = rms_of(rests);
        if (left < least && known.lambda + lambda > 0) { least = left, best = {lambda, by_signs, of_matrices}; }
    };
    for (bool const by_signs : {false, true}) {
        for (bool const of_matrices : {false, true}) {
            bool const fits = by_signs == known.by_signs && of_matrices == known.of_matrices;
            if (known.lambda == 0 || fits) { try_form(by_signs, of_matrices); }
        }
    }
    return best;
}

}  // namespace spotter::inline SPOTTER_ABI::detail
#endif
