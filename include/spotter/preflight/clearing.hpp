// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment: does a pass begin with empty gradients?
#pragma once

#include <spotter/preflight/examiner.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Fills gradients with random signs before a pass, and compares the result with `gradient`, from a pass that began with
// zeros. A filling that is still there was added to: a share above 5 % (rounding and random passes left 2 % at most;
// otherwise it is about 1). If the update clears such gradients, this is reported as a note, otherwise as an error.
// From here on, the gradient of such a tensor is the difference that a pass makes.
void examine_clearing(examiner& all, double_list const& gradient);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/preflight/clearing.ipp>
#endif
