// SPDX-License-Identifier: Apache-2.0
// Workbench, page: findings, each with a curve of its quantity, and the rules that could not run.
#pragma once
#include "page/head.hpp"

namespace spotter::inline SPOTTER_ABI::html {

namespace detail {

[[nodiscard]] std::string coverage_of(std::vector<recorded_coverage> const& all);

}  // namespace detail

// For one run; without findings it says how much that means.
[[nodiscard]] section findings_section(run_story const& story);

// For more runs than are shown side by side: each run's verdict and strongest findings, without curves.
[[nodiscard]] section findings_of_many(std::vector<run_story> const& runs);

}  // namespace spotter::inline SPOTTER_ABI::html
