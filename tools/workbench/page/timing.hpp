// SPDX-License-Identifier: Apache-2.0
// Workbench, page: durations of steps, their composition, and what the record lacks.
#pragma once
#include "page/section.hpp"

namespace spotter::inline SPOTTER_ABI::html {

// For train steps, or for evaluations where no train step was timed; without timed steps it says so.
[[nodiscard]] section timing_section(run_story const& story);

}  // namespace spotter::inline SPOTTER_ABI::html
