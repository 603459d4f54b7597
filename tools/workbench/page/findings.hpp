// SPDX-License-Identifier: Apache-2.0
// Workbench, page: what rules found, each with a curve of what it is about, and which rules could not run.
#pragma once
#include "page/head.hpp"

namespace spotter::inline SPOTTER_ABI::html {

namespace detail {

[[nodiscard]] std::string coverage_of(std::vector<recorded_coverage> const& all);

}  // namespace detail

// Of one run; where nothing was found it says what that is worth.
[[nodiscard]] section findings_section(run_story const& story);

// Of more runs than stand side by side: for each its verdict and the strongest findings, without their curves.
[[nodiscard]] section findings_of_many(std::vector<run_story> const& runs);

}  // namespace spotter::inline SPOTTER_ABI::html
