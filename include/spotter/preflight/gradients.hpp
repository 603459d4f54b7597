// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment: is every gradient the derivative of the loss?
#pragma once

#include <spotter/preflight/differences.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Where gradients are right, and where they are not.
//
// Along a direction of random signs the residual (the change of the loss less what the gradient predicts) is normal,
// with a deviation of |gradient - derivative| times the step (a Rademacher projection; Spall 1992 estimates gradients
// by such): so a few directions tell the relative error of a tensor of any size, and the gradient's own direction alone
// would not: a gradient with rows exchanged agrees with itself. All tensors are moved at once: the residual bounds the
// error of each, and rounding costs no more than alone. Only where that fails, groups and single tensors are asked.
// What rounding and kinks add is known from the same losses: L(w + d) + L(w - d) - 2 L(w) holds them, too, and no
// gradient.
//
// Where the last one is wrong and the loss is far above that at small weights, it may be clamped or saturated, as by
// raw inputs: a gradient that is right of the loss without the clamp has no derivative to agree with there. Then
// smaller weights are asked, where it is not.
struct gradient_limits {
    // Of the relative error. Right gradients of the development nets were within .026 in 99 of 100, planted faults
    // beyond .05; in double noise is 1e-8.
    static constexpr double right_in_float = 0.03, right_in_double = 0.002;
    static constexpr double wrong = 0.1;  // an error; between, a warning
    // An error that is certain is this many times the noise, and this many times the roughness: a kink leaves up to 1.7
    // times as much of a residual as it adds to how bends differ, so of nine directions that is chance in a few of a
    // thousand, and an alarm needs it at two of three places. It may then be a quarter of what is otherwise right.
    static constexpr double beyond_noise = 3, beyond_roughness = 4;
    static constexpr double noise_share = 0.005;  // of a tensor's share that rounding makes: a sixth of what is right
    // Of the weights: a start of zeros hides what is behind it, and an alarm needs several places.
    static constexpr double displacements[] = {0.05, 0.1, 0.3};
    static constexpr int first_directions = 4, all_directions = 9;
    static constexpr int nearer_directions = 6;       // by a quarter of the step, where kinks may be what four showed
    static constexpr std::size_t apart_at_once = 12;  // tensors that are asked one by one; of more, halves first
    // Of the weights, the smallest that are asked where the loss is saturated; a loss so much above that there, of it,
    // is not at ease, and one so much is.
    static constexpr double smallest_weights = 0x1p-12, saturated = 1, at_ease = 0.1;
};

// Whether a factor explains the changes of the loss: what is left is a tenth of that, and a third of what was wrong.
[[nodiscard]] inline bool explains(multiple const& it) noexcept {
    double const size = magnitude(it.kappa) * it.predicted;
    return it.left < 0.1 * size && it.left <= magnitude(it.kappa - 1) * it.predicted / 3;
}

// Fills all.gradients; tells nothing. Inputs are those of the next sample where that can be had, so that what a pass
// keeps of an earlier batch shows.
void examine_gradients(examiner& all);

// Asked of a gradient that was found wrong, with the sample that showed it: which simple mistake would have predicted
// it, and where it lies. Costs nothing but for the place, 30 passes at most. Gradients of other tensors are those of
// the probe.
void name_mistake(examiner& all, probe const& at, std::size_t tensor, difference_sample const& sample,
                  bool looks_for_place, gradient_state& into);

// What was found of them, as findings: causes that many tensors share first.
void tell_gradients(examiner& all);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/preflight/gradient_causes.ipp>
#include <spotter/preflight/gradient_mistakes.ipp>
#include <spotter/preflight/gradients.ipp>
#endif
