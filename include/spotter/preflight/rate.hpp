// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment: the loss along the loop's own first update: is it of a sensible length?
#pragma once

#include <spotter/preflight/update.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

struct rate_limits {
    // Too large is a rate at which the first update takes the loss of its own batch up, and which is not below its
    // beginning behind the eighth to the tenth, with all layers alive. The first alone is no proof: nets that train
    // well were at five times their loss behind their first step. Beyond `leap` it is an error.
    static constexpr int more_updates = 10, at_the_end = 3;
    static constexpr double leap = 2;  // a rise by twice the loss
    // Of the loss, that a shorter step gains: where none gains as much the loss may jump, as a policy's does.
    static constexpr double least_gain = 0.02;
    // Too small: the loss is lowest at this multiple of the step, and the step gains less than this share of what can
    // be had along it. Development nets that train well: up to 316, small rates to 3e3, Adam with a warm-up of a
    // thousand steps 3e4; rates a million times too small 1e6 and more. A loss that falls for ever along a line, as of
    // samples that can be told apart, has no lowest place, but there a step gains its share.
    static constexpr double too_small = 3e4, tiny = 1e-4;
    // Times as much, where steps grow by 1.8 in five: momentum, a warm-up.
    static constexpr double while_steps_grow = 30;
};

// The loss at the step is looked at first, then at 1e5 of it. Where it is lower there, or higher at the step than
// before it, half decades are looked at.
void examine_rate(examiner& all, first_step const& first);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/preflight/rate.ipp>
#endif
