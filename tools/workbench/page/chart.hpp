// SPDX-License-Identifier: Apache-2.0
// Workbench, page: curves over steps as a figure: a line of means, a band from the smallest to the largest value of
// each bucket, gaps where nothing is finite, findings as marks.
#pragma once

#include "page/series.hpp"

#include <spotter/rule/finding.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI::html {

struct line {                      // one curve of a chart
    series const* data = nullptr;  // must outlive the drawing
    std::string label{};           // in the legend and tooltips; any characters, escaped when it is drawn
    unsigned colour = 0;           // index in the palette: 0 to 5
    unsigned dash = 0;             // pattern of the line: 0 solid, 1 dashed, 2 dotted
    std::string end{};             // label at its end
    bool named = true;             // listed in the legend
    bool strong = false;           // drawn thicker
    bool band = true;              // show the range of values where a bucket has several
};

struct mark {                // a finding: a vertical line; left out where it is beyond the steps of the curves
    std::uint64_t step = 0;  // on the axis of the curves
    spotter::severity severity = severity::warning;  // decides on its colour
    std::string label{};                             // its tooltip; any characters
};

struct chart {                          // a figure of curves over steps, from the first to the last with a value
    std::string title{};                // any characters
    std::string note{};                 // below the title
    std::vector<line> lines{};          // the last one on top; no tooltips for more than 8
    std::vector<mark> marks{};          // drawn below the curves
    std::optional<double> threshold{};  // a horizontal line; beyond the axis it is only in the caption
    std::string step_name = "step";     // of the axis
    bool may_be_log = true;             // logarithmic if all values are above zero and the largest is over 50 times the
                                        // smallest
    bool whole_numbers = false;         // labels of values are whole numbers
    std::optional<double> ceiling{};    // the axis goes from 0 to this
    bool wide = false;                  // double width, normal height
};

namespace detail {

// chart_more: the additional width of a wide one.
inline constexpr double chart_width = 480, chart_height = 224, chart_left = 74, chart_right = 470, chart_top = 14,
                        chart_bottom = 190, chart_more = 624;
[[nodiscard]] inline double right_of(chart const& it) noexcept {
    bool const ends = std::any_of(it.lines.begin(), it.lines.end(), [](line const& each) { return !each.end.empty(); });
    return (it.wide ? chart_right + chart_more : chart_right) - (ends ? 22 : 0);  // room for a label
}

struct extent {
    double least = 0, most = 0;
    std::uint64_t first = 0, last = 0;
    bool finite = false, seen = false;
};
[[nodiscard]] extent extent_of(chart const& it);

// TensorBoard's smoothing: an exponential mean of the buckets' means, corrected for its start; one for each bucket,
// empty where the bucket has no value.
[[nodiscard]] std::vector<std::optional<double>> running_means(series const& data);

}  // namespace detail

// A <figure> with the width of its column. Empty where no line has a value.
[[nodiscard]] std::string draw(chart const& it);

// A chart without neighbours: full page width on large screens, normal width on small ones.
[[nodiscard]] std::string draw_alone(chart it);

}  // namespace spotter::inline SPOTTER_ABI::html
