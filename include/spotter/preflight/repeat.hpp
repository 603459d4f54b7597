// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment: does an equal pass give an equal loss, and how far does rounding move it?
#pragma once

#include <spotter/preflight/examiner.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// A pass from the same state, and, of a loop with a loss of its own, that one: both within a millionth, the two losses
// within a ten-thousandth. `gradient` is what the buffers hold behind it that held zeros before.
void examine_repeat(examiner& all, double_list& gradient);

// The standard deviation of what rounding makes of the loss at a place: L(w + d) + L(w - d) - 2 L(w), of random d,
// holds neither the gradient, right or wrong, nor a bend that counts: d is a tenth of the root of the weights' spacing,
// 3e-5 of their size in float. Nearer neighbours repeat each other's roundings (Moré and Wild 2011, who take
// differences of a higher order, say how near they may be). At least what `least_noise` says. Of bf16 and f16 weights
// one in 64 is moved, by a unit in its last place, as theirs are no small steps.
[[nodiscard]] double noise_at(examiner& all, double_list const& weights, double loss, int pairs);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/preflight/repeat.ipp>
#endif
