// SPDX-License-Identifier: Apache-2.0
// Workbench, page: histograms over time as ridges, the oldest at the top.
#pragma once

#include <spotter/stat/distribution.hpp>

#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI::html {

struct ridge {               // the histogram of one step
    std::uint64_t step = 0;  // on the page's axis of steps
    distribution values{};   // with a histogram
};

struct ridge_plot {               // of one tensor
    std::string title{};          // any characters
    std::vector<ridge> ridges{};  // the oldest first
};

namespace detail {

inline constexpr std::size_t ridge_columns = 48;

// The share of values in each column of the range: each bin is spread over the columns that it covers. Values outside
// the range are left out.
[[nodiscard]] std::array<double, ridge_columns> ridge_shares(distribution const& it, double low, double high);

}  // namespace detail

// A <figure>; empty where there is no ridge.
[[nodiscard]] std::string draw(ridge_plot const& it);

}  // namespace spotter::inline SPOTTER_ABI::html
