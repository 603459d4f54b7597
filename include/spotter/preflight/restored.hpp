// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment: is everything restored that passes and updates change?
#pragma once

#include <spotter/preflight/update.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Repeats the first pass and update after `restore` (for a net that is copied: on a new copy). The loss must agree
// within a millionth, and the step within a thousandth. Otherwise `restore` does not restore something, or copies share
// it: moments, a running mean, a place in the data.
void examine_restored(examiner& all, first_step const& first);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/preflight/restored.ipp>
#endif
