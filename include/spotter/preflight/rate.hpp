// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment: the loss along the loop's own first update: is the update of a sensible length?
#pragma once

#include <spotter/preflight/update.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

struct rate_limits {
    // A rate is too large if the first update raises the loss of its own batch, and the loss is not below its beginning
    // after the eighth to the tenth update, with all layers alive. The first update alone proves nothing: nets that
    // train well were at five times their loss after it. Beyond `leap` it is an error.
    static constexpr int more_updates = 10, at_the_end = 3;
    static constexpr double leap = 2;  // a rise of twice the loss
    // Relative to the loss: the least gain of a shorter step. Where none gains this, the loss may jump, as a policy's
    // does.
    static constexpr double least_gain = 0.02;
    // A rate is too small if the loss is lowest at this multiple of the step, and the step gains less than the share
    // `tiny` of the largest gain along it. Multiples of development nets that train well: up to 316, with small rates
    // to 3e3, with Adam and a warm-up of a thousand steps 3e4. Rates a million times too small: 1e6 and more. A loss
    // that falls for ever along a line, as for separable samples, has no lowest point, but there a step gains its
    // share.
    static constexpr double too_small = 3e4, tiny = 1e-4;
    // `too_small` is multiplied by this where steps grow by 1.8 in five updates: momentum, a warm-up.
    static constexpr double while_steps_grow = 30;
};

// Computes the loss at the step, then at 1e5 times the step. Where that is lower, or the loss rose at the step, it goes
// through half decades.
void examine_rate(examiner& all, first_step const& first);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/preflight/rate.ipp>
#endif
