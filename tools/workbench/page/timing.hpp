// SPDX-License-Identifier: Apache-2.0
// Workbench, page: how long steps took, what they are made of, and what the record lacks.
#pragma once
#include "page/section.hpp"

namespace spotter::inline SPOTTER_ABI::html {

// Of train steps, or of evaluations where none was timed; where no step was it says so.
[[nodiscard]] section timing_section(run_story const& story);

}  // namespace spotter::inline SPOTTER_ABI::html
