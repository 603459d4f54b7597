// SPDX-License-Identifier: Apache-2.0
// Report (L5), for html.hpp: curves over steps as a figure: a line of means, a band from the smallest to the largest value of each
// bucket, gaps where nothing is finite, findings as marks.
#pragma once

#include <spotter/report/html/series.hpp>
#include <spotter/rule/finding.hpp>

#include <optional>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI::html {

struct line {
    series const* data = nullptr;  // outlives the drawing
    std::string label{};
    unsigned colour = 0;  // of the palette: 0 to 5
    bool dashed = false;
    bool named = true;  // in the legend
    bool band = true;   // from the smallest to the largest of neighbouring steps, where a bucket has several
};

struct mark {
    std::uint64_t step = 0;
    spotter::severity severity = severity::warning;
    std::string label{};
};

struct chart {
    std::string title{};
    std::string note{};  // below the title
    std::vector<line> lines{};
    std::vector<mark> marks{};
    std::optional<double> threshold{};
    std::string step_name = "step";
    bool may_be_log = true;
    bool whole_numbers = false;
    std::optional<double> ceiling{};  // the axis goes from 0 to this
    bool wide = false;                // as wide as two, as high as one
};

namespace detail {

inline constexpr double chart_width = 480, chart_height = 224, chart_left = 58, chart_right = 470, chart_top = 14,
                        chart_bottom = 190, chart_more = 624;  // by which a wide one is wider
[[nodiscard]] constexpr double right_of(chart const& it) noexcept { return it.wide ? chart_right + chart_more : chart_right; }

struct extent {
    double least = 0, most = 0;
    std::uint64_t first = 0, last = 0;
    bool finite = false, seen = false;
};
[[nodiscard]] extent extent_of(chart const& it);

// As TensorBoard smooths: an exponential mean of the buckets' means, set right for its beginning; bucket for bucket, none where there is no value.
[[nodiscard]] std::vector<std::optional<double>> running_means(series const& data);

}  // namespace detail

// A <figure>, as wide as the column that it is in. Empty where no line has a value.
[[nodiscard]] std::string draw(chart const& it);

// One chart that stands alone: over the whole width of a page on a desk, as any other where there is less room.
[[nodiscard]] std::string draw_alone(chart it);

}  // namespace spotter::inline SPOTTER_ABI::html

#if SPOTTER_BODIES
#include <spotter/report/html/chart.ipp>
#endif
