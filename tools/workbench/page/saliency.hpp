// SPDX-License-Identifier: Apache-2.0
// Workbench, page: inputs beside themselves with what of them made the net say what it said.
#pragma once

#include "page/classes.hpp"
#include "page/section.hpp"

#include <spotter/workbench/saliency.hpp>

namespace spotter::inline SPOTTER_ABI::html {

// Of the last step with what full_gradients needs by its own names. Empty for a run that has none.
[[nodiscard]] section saliency_section(run_story const& story, value_source& from);

}  // namespace spotter::inline SPOTTER_ABI::html
