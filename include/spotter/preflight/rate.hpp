// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment: the loss along the loop's own first update: is it of a sensible length?
#pragma once

#include <spotter/preflight/update.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

struct rate_limits {
    // The loss is lowest at this multiple of the step. Development nets that train well: .1 to 316, small rates to 3e3, Adam with a warm-up of a thousand
    // steps 3e4; rates a million times too small 1e6 and more, a thousand times too large .001 to .1.
    static constexpr double too_large = 0.05;
    static constexpr double too_small = 3e4;
    static constexpr double tiny = 1e-4;  // and the step itself gains less than this share of what can be had along it
    static constexpr double while_steps_grow = 30;  // times as much, where steps grow by 1.8 in five: momentum, a warm-up
    // The loss behind the step, over that before it: nets that train well were at 5 at most, with .1 of the step as the best; a thousandfold rate made 6 and more.
    static constexpr double leap = 3;
    static constexpr int more_updates = 10;  // what is no such leap is no alarm where one of these brings the loss below its beginning, and kills no layer
};

// The loss at the step is looked at first, then at 1e5 of it. Where it is lower there, or higher at the step than before it, half decades are looked at.
void examine_rate(examiner& all, first_step const& first);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/preflight/rate.ipp>
#endif
