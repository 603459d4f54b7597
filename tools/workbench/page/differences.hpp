// SPDX-License-Identifier: Apache-2.0
// Workbench, page: in what the runs of a page differ: settings, rules, tensors.
#pragma once

#include "page/head.hpp"

#include <map>

namespace spotter::inline SPOTTER_ABI::html {

namespace detail {

using facts = std::map<std::string, std::string>;  // what: how it is in one run

[[nodiscard]] facts settings_of(run_story const& story);

}  // namespace detail

// Empty for one run, and for more than stand side by side.
[[nodiscard]] section differences_section(std::vector<run_story> const& runs);

}  // namespace spotter::inline SPOTTER_ABI::html
