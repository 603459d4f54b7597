// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment: is every gradient the derivative of the loss?
#pragma once

#include <spotter/preflight/shots.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Where gradients are right, and where they are not.
//
// Along a direction of random signs what a gradient did not foresee of the loss is normal, with a deviation of
// |gradient - derivative| times the step (a Rademacher projection; Spall 1992 estimates gradients by such): so a few
// directions tell the relative error of a tensor of any size, and the gradient's own direction alone would not: a
// gradient with rows exchanged agrees with itself. All tensors are moved at once: what is not foreseen bounds the error
// of each, and rounding costs no more than alone. Only where that fails, groups and single tensors are asked. What
// rounding and kinks add is known from the same losses: L(w + d) + L(w - d) - 2 L(w) holds them, too, and no gradient.
struct gradient_limits {
    // Of the relative error. Right gradients of the development nets were within .026 in 99 of 100, planted faults
    // beyond .05; in double noise is 1e-8.
    static constexpr double right_in_float = 0.03, right_in_double = 0.002;
    static constexpr double wrong = 0.1;  // an error; between, a warning
    // An error that is certain is this many times the noise, and this many times the roughness: a kink leaves up to 1.7
    // times as much of a shot as it adds to how bends differ, so of nine shots that is chance in a few of a thousand,
    // and an alarm needs it at two of three places. It may then be a quarter of what is otherwise right.
    static constexpr double beyond_noise = 3, beyond_roughness = 4;
    static constexpr double noise_share = 0.005;  // of a tensor's share that rounding makes: a sixth of what is right
    // Of the weights: a start of zeros hides what is behind it, and an alarm needs several places.
    static constexpr double displacements[] = {0.05, 0.1, 0.3};
    static constexpr int first_shots = 4, all_shots = 9;
    static constexpr int nearer_shots = 6;  // by a quarter of the step, where kinks may be what four of them showed
    static constexpr std::size_t apart_at_once = 12;  // tensors that are asked one by one; of more, halves first
};

// Whether a factor explains shots that move the loss by kappa times what was foreseen, `unit` of it: what is left is a
// tenth of that, and a third of what was wrong before.
[[nodiscard]] inline bool explains_factor(double kappa, double unit, double left) noexcept {
    return left <= 0.1 * magnitude(kappa) * unit && left <= magnitude(kappa - 1) * unit / 3;
}

// Fills all.gradients; tells nothing. Inputs are those of the next sample where that can be had, so that what a pass
// keeps of an earlier batch shows.
void examine_gradients(examiner& all);

// Asked of a gradient that was found wrong, with the shots that showed it: which simple mistake would have foreseen
// them, and where it lies. Costs nothing but for the place, 30 passes at most. Gradients of other tensors are those of
// the probe.
void name_mistake(examiner& all, probe const& at, std::size_t tensor, std::vector<shot> const& shots,
                  std::uint64_t first_direction, bool looks_for_place, gradient_state& into);

// What was found of them, as findings: causes that many tensors share first.
void tell_gradients(examiner& all);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/preflight/gradient_causes.ipp>
#include <spotter/preflight/gradient_mistakes.ipp>
#include <spotter/preflight/gradients.ipp>
#endif
