// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the table of several runs, and the hyperparameters of one.
#pragma once
#include "page/section.hpp"

namespace spotter::inline SPOTTER_ABI::html {

// Empty for one run; the rows link to the findings of each.
[[nodiscard]] section runs_section(std::vector<run_story> const& runs);

// The top of a page with more runs than are shown side by side: how many ended in which way.
[[nodiscard]] std::string head_of_many(std::vector<run_story> const& runs);

// What was recorded before the first step. Empty for several runs, whose table has it.
[[nodiscard]] section hyperparameters_section(std::vector<run_story> const& runs);

}  // namespace spotter::inline SPOTTER_ABI::html
