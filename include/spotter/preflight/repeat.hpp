// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment: does an equal pass give an equal loss, and how much does rounding change the loss?
#pragma once

#include <spotter/preflight/examiner.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Repeats a pass from the same state, and computes .loss where there is one: each within a millionth, and both within a
// ten-thousandth of each other. `gradient`: what gradient buffers hold after a pass that began with zeros.
void examine_repeat(examiner& all, double_list& gradient);

// The standard deviation of the rounding noise of one loss. L(w + d) + L(w - d) - 2 L(w) for a random d contains
// neither the gradient, right or wrong, nor a curvature that matters: d is a tenth of the root of the weights' spacing,
// 3e-5 of their size in float. Nearer points repeat the same roundings (Moré and Wild 2011, who take differences of
// higher order, give the least distance). At least `least_noise`. For bf16 and f16, whose spacing is no small step, one
// weight in 64 moves, by one unit in its last place.
[[nodiscard]] double noise_at(examiner& all, double_list const& weights, double loss, int pairs);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/preflight/repeat.ipp>
#endif
