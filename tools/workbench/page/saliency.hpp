// SPDX-License-Identifier: Apache-2.0
// Workbench, page: inputs, and maps of their parts that explain the net's output.
#pragma once

#include "page/classes.hpp"
#include "page/section.hpp"

#include <spotter/workbench/saliency.hpp>

namespace spotter::inline SPOTTER_ABI::html {

// For the last step with the tensors that full_gradients needs, under its default names. Empty for a run without any.
[[nodiscard]] section saliency_section(run_story const& story, value_source& from);

}  // namespace spotter::inline SPOTTER_ABI::html
