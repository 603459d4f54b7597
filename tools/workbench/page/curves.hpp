// SPDX-License-Identifier: Apache-2.0
// Workbench, page: losses, metrics and other numbers over the steps; one chart a name, with all modes and all runs.
#pragma once
#include "page/section.hpp"

namespace spotter::inline SPOTTER_ABI::html {

namespace detail {

// Title and label: series of a booster for several sets of rows, such as "train-auc" and "test-auc", share one chart.
[[nodiscard]] std::pair<std::string, std::string> title_of(std::string const& name);

struct curve_group {
    std::string title{};
    std::vector<line> lines{};
};

}  // namespace detail

// For all runs of the page. If there are more than are shown side by side, there is one chart for each loss, metric and
// mode. Its legend is sorted by final value, highest first, with the number at the line's end.
[[nodiscard]] section curves_section(std::vector<run_story> const& runs);

}  // namespace spotter::inline SPOTTER_ABI::html
