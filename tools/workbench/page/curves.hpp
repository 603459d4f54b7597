// SPDX-License-Identifier: Apache-2.0
// Workbench, page: losses, metrics and other numbers over the steps, all modes and all runs of the page in
// one chart a name.
#pragma once
#include "page/section.hpp"

namespace spotter::inline SPOTTER_ABI::html {

namespace detail {

// What boosters report of several sets of rows, such as "train-auc" and "test-auc", belongs into one chart: title and
// label.
[[nodiscard]] std::pair<std::string, std::string> title_of(std::string const& name);

struct curve_group {
    std::string title{};
    std::vector<line> lines{};
};

}  // namespace detail

// Of all runs of the page. Of more than stand side by side there is one chart for each loss and metric and mode, whose
// legend goes from the run that ends highest to the one that ends lowest, with a number that stands at the line's end.
[[nodiscard]] section curves_section(std::vector<run_story> const& runs);

}  // namespace spotter::inline SPOTTER_ABI::html
