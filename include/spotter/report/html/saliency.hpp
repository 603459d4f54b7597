// SPDX-License-Identifier: Apache-2.0
// Report (L5), for html.hpp: inputs beside themselves with what of them made the net say what it said.
#pragma once

#include <spotter/report/html/classes.hpp>
#include <spotter/report/html/section.hpp>
#include <spotter/trial/saliency.hpp>

namespace spotter::inline SPOTTER_ABI::html {

// Of the last step with what full_gradients needs by its own names. Empty for a run that has none.
[[nodiscard]] section saliency_section(run_story const& story, value_source& from);

}  // namespace spotter::inline SPOTTER_ABI::html

#if SPOTTER_BODIES
#include <spotter/report/html/saliency.ipp>
#endif
