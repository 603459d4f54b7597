// SPDX-License-Identifier: Apache-2.0
// Workbench, page: differences between the runs of a page: settings, rules, tensors.
#pragma once

#include "page/head.hpp"

#include <map>

namespace spotter::inline SPOTTER_ABI::html {

namespace detail {

using facts = std::map<std::string, std::string>;  // name and value in one run

[[nodiscard]] facts settings_of(run_story const& story);

}  // namespace detail

// Empty for one run, and for more than are shown side by side.
[[nodiscard]] section differences_section(std::vector<run_story> const& runs);

}  // namespace spotter::inline SPOTTER_ABI::html
