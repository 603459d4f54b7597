// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment: does a pass begin with empty gradients?
#pragma once

#include <spotter/preflight/examiner.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Gradients are filled with random signs before a pass, and are held against `gradient`, behind a pass from zeros. What
// comes out as it went in was added to: a share of 1 within 5 % (2 % of rounding and of random passes was seen at most,
// and nothing between). Where the update empties it, that is a habit, told as a note; otherwise an error. From here on
// a pass is measured by the difference that it makes.
void examine_clearing(examiner& all, double_list const& gradient);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/preflight/clearing.ipp>
#endif
