// SPDX-License-Identifier: Apache-2.0
// Workbench, page: curves over steps as a figure: a line of means, a band from the smallest to the largest
// value of each bucket, gaps where nothing is finite, findings as marks.
#pragma once

#include "page/series.hpp"

#include <spotter/rule/finding.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI::html {

struct line {                      // one curve of a chart
    series const* data = nullptr;  // outlives the drawing
    std::string label{};           // of the legend and the tips; any letters, escaped when it is drawn
    unsigned colour = 0;           // of the palette: 0 to 5
    unsigned dash = 0;             // a pattern, as drawn and in the legend: 0 whole, 1 long, 2 dots
    std::string end{};             // stands where it ends
    bool named = true;             // in the legend
    bool strong = false;           // thicker than the others
    bool band = true;              // from the smallest to the largest of neighbouring steps, where a bucket has several
};

struct mark {  // a finding: a line from top to bottom; left out where it lies beyond the steps of the curves
    std::uint64_t step = 0;                          // on the axis of the curves
    spotter::severity severity = severity::warning;  // says its colour
    std::string label{};                             // its tip; any letters
};

struct chart {                          // a figure of curves over steps, from the first to the last that has a value
    std::string title{};                // any letters
    std::string note{};                 // below the title
    std::vector<line> lines{};          // above each other, the last on top; more than 8 have no tips
    std::vector<mark> marks{};          // below the curves
    std::optional<double> threshold{};  // a line across; beyond the axis it is told in words
    std::string step_name = "step";     // of the axis
    bool may_be_log = true;             // it is where all is above zero and the largest is over 50 times the smallest
    bool whole_numbers = false;         // labels of values are whole
    std::optional<double> ceiling{};    // the axis goes from 0 to this
    bool wide = false;                  // as wide as two, as high as one
};

namespace detail {

// By which a wide one is wider.
inline constexpr double chart_width = 480, chart_height = 224, chart_left = 74, chart_right = 470, chart_top = 14,
                        chart_bottom = 190, chart_more = 624;
[[nodiscard]] inline double right_of(chart const& it) noexcept {
    bool const ends = std::any_of(it.lines.begin(), it.lines.end(), [](line const& each) { return !each.end.empty(); });
    return (it.wide ? chart_right + chart_more : chart_right) - (ends ? 22 : 0);  // room for a number
}

struct extent {
    double least = 0, most = 0;
    std::uint64_t first = 0, last = 0;
    bool finite = false, seen = false;
};
[[nodiscard]] extent extent_of(chart const& it);

// As TensorBoard smooths: an exponential mean of the buckets' means, set right for its beginning; bucket for bucket,
// none where there is no value.
[[nodiscard]] std::vector<std::optional<double>> running_means(series const& data);

}  // namespace detail

// A <figure>, as wide as the column that it is in. Empty where no line has a value.
[[nodiscard]] std::string draw(chart const& it);

// One chart that stands alone: over the whole width of a page on a desk, as any other where there is less room.
[[nodiscard]] std::string draw_alone(chart it);

}  // namespace spotter::inline SPOTTER_ABI::html
