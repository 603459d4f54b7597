// SPDX-License-Identifier: Apache-2.0
// Workbench, page: many histories as strips of colour, one above the other: layers over time.
#pragma once

#include "page/series.hpp"

#include <spotter/config.hpp>

#include <string>

namespace spotter::inline SPOTTER_ABI::html {

struct strip {            // one row of a heat map
    std::string label{};  // any letters
    series data{};
    bool blamed = false;  // a finding names it
};

struct heat_map {                 // rows over one axis of steps
    std::string title{};          // any letters
    std::string note{};           // below the title
    std::vector<strip> strips{};  // the first at the top
    bool decades = true;          // colours by the logarithm; otherwise by the share from 0 to 1
};

namespace detail {

inline constexpr int heat_levels = 12;  // of the palette: h0 to h11; hz is exactly zero, hx not finite

struct heat_scale {
    double low = 0, high = 1;  // of decades: logarithms
    bool empty = false;        // nothing has a place on it

    // All but the outermost cells, which one diverging layer would else draw apart.
    explicit heat_scale(heat_map const& it);
};

// The class of a cell; -1 where nothing was observed.
[[nodiscard]] int level_of(series::bucket const& cell, heat_scale const& scale, bool decades) noexcept;

}  // namespace detail

// A <figure> as wide as the page: a row a strip, with its last value. Empty where there is no strip. All strips are
// brought to the width of the widest bucket among them.
[[nodiscard]] std::string draw(heat_map it);

}  // namespace spotter::inline SPOTTER_ABI::html
