// SPDX-License-Identifier: Apache-2.0
// Workbench, page: many histories as strips of colour, one above the other: layers over time.
#pragma once

#include "page/series.hpp"

#include <spotter/config.hpp>

#include <string>

namespace spotter::inline SPOTTER_ABI::html {

struct strip {            // one row of a heat map
    std::string label{};  // any characters
    series data{};
    bool blamed = false;  // named by a finding
};

struct heat_map {                 // rows over one axis of steps
    std::string title{};          // any characters
    std::string note{};           // below the title
    std::vector<strip> strips{};  // the first at the top
    bool decades = true;          // logarithmic colours; false: by a share from 0 to 1
};

namespace detail {

inline constexpr int heat_levels = 12;  // colours h0 to h11; hz is exactly zero, hx not finite

struct heat_scale {
    double low = 0, high = 1;  // if `decades`: logarithms
    bool empty = false;        // no value can be placed on it

    // Ignores the outermost cells, so that one diverging layer does not stretch the scale.
    explicit heat_scale(heat_map const& it);
};

// The colour class of a cell; -1 where nothing was observed.
[[nodiscard]] int level_of(series::bucket const& cell, heat_scale const& scale, bool decades) noexcept;

}  // namespace detail

// A <figure> with the width of the page: one row for each strip, with its last value. Empty without strips. All strips
// get the bucket width of the widest.
[[nodiscard]] std::string draw(heat_map it);

}  // namespace spotter::inline SPOTTER_ABI::html
