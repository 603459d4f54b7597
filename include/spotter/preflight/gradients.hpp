// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment: is every gradient the derivative of the loss?
#pragma once

#include <spotter/preflight/differences.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// The limits within which a gradient is right, and the method.
//
// The residual is the change of the loss less what the gradient predicts. Along directions of random signs it is
// normal, with deviation |gradient - derivative| times the step (a Rademacher projection; Spall 1992 estimates
// gradients so). So a few directions show the relative error of a tensor of any size. The gradient's own direction
// would not: a gradient with two rows exchanged agrees with itself. All tensors move at once: the residual bounds the
// error of each, and rounding adds no more than for one tensor. Only where that fails, groups and single tensors are
// examined. The bends L(w + d) + L(w - d) - 2 L(w), from the same losses, contain rounding and kinks and no gradient.
//
// With many tensors that have kinks, these hide an error. The gradients along the way then replace the one in the
// middle: the integral of the slope, by trapezoids, is the change of the loss if the gradient is right. A kink that
// changes the slope by J in a part of length s leaves J s u, with u uniform between -1/2 and 1/2.
//
// If the last gradient is wrong and the loss is far above its value at small weights, the loss may be clamped or
// saturated, as by raw inputs. A right gradient of the loss without the clamp disagrees with the derivative there, so
// smaller weights are examined, where the clamp does not act. What is wrong there as well, by however little, is no
// clamp: a slope that is left out is near to one at small weights.
struct gradient_limits {
    // Limits of the relative error. Of the right gradients of the development nets, 99 in 100 were within .026; planted
    // faults were beyond .05. In double, noise is 1e-8.
    static constexpr double right_in_float = 0.03, right_in_double = 0.002;
    static constexpr double wrong = 0.1;  // above: an error; between: a warning
    // A certain error exceeds the noise and the roughness by these factors. A kink adds to a residual up to 1.7 times
    // what it adds to the roughness, so with nine directions chance exceeds the factor a few times in a thousand. An
    // alarm needs it at two of three points. The error may then be a quarter of what is otherwise right.
    static constexpr double beyond_noise = 3, beyond_roughness = 4;
    static constexpr double noise_share = 0.005;  // rounding, of a tensor's share: a sixth of right_in_float
    // Relative to the weights: a start of zeros hides faults, and an alarm needs several points.
    static constexpr double displacements[] = {0.05, 0.1, 0.3};
    static constexpr int first_directions = 4, all_directions = 9;
    static constexpr int nearer_directions = 5;  // with a quarter of the step, where kinks may explain the first four
    static constexpr int most_points = 16;       // of their paths, in all, between the ends and the middle
    static constexpr std::size_t apart_at_once = 12;  // tensors examined singly; larger groups are halved first
    // Where the loss is saturated: the smallest share of the weights that is examined. The loss is saturated if it is
    // above the one there by `saturated` times that, and at ease within `at_ease` times.
    static constexpr double smallest_weights = 0x1p-12, saturated = 1, at_ease = 0.1;
};

// Whether a factor explains the changes of the loss: a tenth of its prediction is left at most, and a third of what was
// wrong.
[[nodiscard]] inline bool explains(multiple const& it) noexcept {
    double const size = magnitude(it.kappa) * it.predicted;
    return it.left < 0.1 * size && it.left <= magnitude(it.kappa - 1) * it.predicted / 3;
}

// Fills all.gradients; reports nothing. Uses the inputs of the next sample where it can write them, so that state from
// an earlier batch shows.
void examine_gradients(examiner& all);

// For a wrong gradient and the sample that showed it: finds the simple mistake that predicts it, and where it is. Takes
// no passes, except for the place: 30 at most. Gradients of other tensors are those of the probe.
void name_mistake(examiner& all, probe const& at, std::size_t tensor, difference_sample const& sample,
                  bool looks_for_place, gradient_state& into);

// Reports the results of all gradients: causes that many tensors share first.
void tell_gradients(examiner& all);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/preflight/gradient_causes.ipp>
#include <spotter/preflight/gradient_mistakes.ipp>
#include <spotter/preflight/gradients.ipp>
#endif
