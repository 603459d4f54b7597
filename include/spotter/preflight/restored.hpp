// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment: is everything back that passes and updates changed?
#pragma once

#include <spotter/preflight/update.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// One pass and one update more, restored (of a net that is copied: on a new copy): the loss is the first one's, within
// a millionth, and the step that of the first update, within a thousandth. Otherwise something is not kept by
// `restore`, or is shared by copies: moments, a running mean, a place in the data.
void examine_restored(examiner& all, first_step const& first);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/preflight/restored.ipp>
#endif
