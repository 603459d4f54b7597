// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment: does an equal pass give an equal loss, and how far does rounding move it?
#pragma once

#include <spotter/preflight/examiner.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// A pass from the same state. `gradient` is what the buffers hold behind it that held zeros before.
void examine_repeat(examiner& all, numbers& gradient);

// The standard deviation of what rounding makes of the loss at a place: weights are moved by a rounding each, `jitters` times, and what the gradient says
// of that is taken off (Moré and Wild 2011 measure the noise of a function by such neighbours, too). At least a quarter of a unit in the last place of the
// loss: 3e-8 of it in float. Of bf16 and f16 weights one in sixteen is moved, as their roundings are no small steps.
[[nodiscard]] double noise_at(examiner& all, numbers const& weights, double loss, numbers const& gradient, int jitters);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/preflight/repeat.ipp>
#endif
