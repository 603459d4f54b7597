// SPDX-License-Identifier: Apache-2.0
// Workbench, page: for boosted trees: the important features over the rounds, and the depth of trees.
#pragma once
#include "page/section.hpp"
#include "page/values.hpp"

namespace spotter::inline SPOTTER_ABI::html {

// Its body is empty where no tensor has a role of trees.
[[nodiscard]] section trees_section(run_story const& story, value_source& from);

}  // namespace spotter::inline SPOTTER_ABI::html
