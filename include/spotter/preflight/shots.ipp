// SPDX-License-Identifier: Apache-2.0
// The bodies of shots.hpp.
#pragma once

#include <spotter/preflight/shots.hpp>

#include <numeric>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY double shot::rest() const noexcept {
    return moved - std::accumulate(foreseen.begin(), foreseen.end(), 0.0);
}

// One digit and a power of ten, as limits are, to the last bit of a float.
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
    at.steps.assign(tensors.size(), 0.0);
    for (std::size_t t = 0; t < tensors.size(); ++t) {
        double const scale = all.scale_of(tensors[t], at.weights), spacing = spacing_of(tensors[t].type),
                     most = 1e-2 * scale;
        double const least = (spacing < 1e-10 ? 1e-6 : (std::max)(1e-4, spacing / 2)) * scale;
        double square = 0;
        for (double const g : tensors[t].of(at.gradient)) { square += magnitude(g) < at.clipped ? g * g : 0.0; }
        double const size = std::sqrt(square);
        at.steps[t] = size > 0 ? std::clamp(at.pair_noise() / (share * 2 * size), least, most) : most;
    }
}

SPOTTER_BODY void difference_of(examiner const& all, probe const& at, std::size_t tensor, double times,
                                std::uint64_t direction, double_list& up, double_list& down) {
    parameter const& it = all.loop.parameters()[tensor];
    random_numbers signs{direction * 0x9E3779B97F4A7C15U + tensor};
    double const step = at.steps[tensor] * times;
    for (std::size_t i = it.first; i < it.first + it.count; ++i) {
        double const w = at.weights[i], sign = signs.sign() * (1 + 0.9 * signs.sign());
        double high = rounded_to(it.type, w + sign * step);
        // The next number.
        if (high == w) { high = rounded_to(it.type, w + std::copysign(spacing_of(it.type), sign) * magnitude(w)); }
        if (magnitude(at.gradient[i]) >= at.clipped) { high = w; }
        up[i] = high;
        down[i] = rounded_to(it.type, w - (high - w));
    }
}

// Both losses, and what is foreseen, of places that are made.
inline void measure_ends(examiner& all, probe const& at, tensor_group const& group, double_list const& up,
                         double_list const& down, shot& made) {
    subject& loop = all.loop;
    loop.go_to(up);
    double const high = loop.loss();
    loop.go_to(down);
    double const low = loop.loss();
    loop.go_to(at.weights);
    made.moved = high - low, made.bend = high + low - 2 * at.loss;
    for (std::size_t const t : group) {
        parameter const& it = loop.parameters()[t];
        double foreseen = 0, by_weights = 0, by_signs = 0, unit = 0;
        for (std::size_t i = it.first; i < it.first + it.count; ++i) {
            double const apart = up[i] - down[i], w = at.weights[i], along = at.gradient[i] * apart;
            foreseen += along, unit += along * along;
            by_weights += w * apart;
            by_signs += (w > 0 ? apart : w < 0 ? -apart : 0.0);
        }
        made.foreseen.push_back(foreseen), made.by_weights.push_back(by_weights), made.by_signs.push_back(by_signs);
        made.unit.push_back(std::sqrt(unit));
    }
}

SPOTTER_BODY shot fire(examiner& all, probe const& at, tensor_group const& group, double times, std::uint64_t direction,
                       std::size_t from, std::size_t to) {
    shot made;
    double_list up = at.weights, down = at.weights;
    for (std::size_t const t : group) {
        difference_of(all, at, t, times, direction, up, down);
        parameter const& it = all.loop.parameters()[t];
        for (std::size_t i = 0; i < it.count; ++i) {
            if (i < from || i >= to) { up[it.first + i] = down[it.first + i] = at.weights[it.first + i]; }
        }
    }
    measure_ends(all, at, group, up, down, made);
    return made;
}

SPOTTER_BODY ratio_along fire_along(examiner& all, probe const& at, std::size_t tensor, double times) {
    parameter const& it = all.loop.parameters()[tensor];
    number_view const g = it.of(at.gradient);
    double const size = norm_of(g);
    if (!(size > 0)) { return {}; }
    // Of random signs a tensor foresees |g| times twice the step; along the gradient as much from a step of that length
    // in all.
    double const step = at.steps[tensor] * times / size;
    double_list up = at.weights, down = at.weights;
    for (std::size_t i = it.first; i < it.first + it.count; ++i) {
        up[i] = rounded_to(it.type, at.weights[i] + step * at.gradient[i]);
        down[i] = rounded_to(it.type, at.weights[i] - step * at.gradient[i]);
    }
    shot made;
    measure_ends(all, at, {tensor}, up, down, made);
    double const foreseen = made.foreseen[0];
    if (!(magnitude(foreseen) > 0)) { return {}; }
    return {made.moved / foreseen, at.pair_noise() / magnitude(foreseen)};
}

}  // namespace spotter::inline SPOTTER_ABI::detail
