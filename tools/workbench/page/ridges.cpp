// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the bodies of ridges.hpp.
#include "page/ridges.hpp"

#include "page/axis.hpp"
#include "page/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace spotter::inline SPOTTER_ABI::html::detail {

// The range of values for all ridges: the middle 98 % of most of them. A first gradient that is a hundred times larger
// must not compress the others.
[[nodiscard]] static std::pair<double, double> ridge_range(std::vector<ridge> const& all) {
    std::vector<double> lows, highs;
    for (ridge const& each : all) {
        std::uint64_t total = 0, below = 0, above = 0;
        for (std::uint64_t const count : each.values.bins) { total += count; }
        std::size_t from = 0, to = histogram_bins;
        while (from + 1 < to && (below + each.values.bins[from]) * 100 < total) { below += each.values.bins[from++]; }
        while (to - 1 > from && (above + each.values.bins[to - 1]) * 100 < total) { above += each.values.bins[--to]; }
        double const width = each.values.high / histogram_bins - each.values.low / histogram_bins;
        lows.push_back(each.values.low + static_cast<double>(from) * width);
        highs.push_back(each.values.low + static_cast<double>(to) * width);
    }
    std::sort(lows.begin(), lows.end()), std::sort(highs.begin(), highs.end());
    double const room = highs[highs.size() / 2] - lows[lows.size() / 2];
    double low = (std::max)(lows.front(), lows[lows.size() / 2] - room);
    double high = (std::min)(highs.back(), highs[highs.size() / 2] + room);
    if (!(high > low)) {
        double const around = low != 0 ? magnitude(low) * 0.05 : 1;
        low -= around, high += around;
    }
    return {low, high};
}

std::array<double, ridge_columns> ridge_shares(distribution const& it, double low, double high) {
    std::array<double, ridge_columns> shares{};
    double total = 0;
    for (std::uint64_t const count : it.bins) { total += static_cast<double>(count); }
    double const width = it.high / histogram_bins - it.low / histogram_bins;
    double const column = (high - low) / ridge_columns;
    for (std::size_t bin = 0; bin < histogram_bins && total > 0; ++bin) {
        double const share = static_cast<double>(it.bins[bin]) / total;
        double const from = (it.low + static_cast<double>(bin) * width - low) / column;
        double const to = from + (std::max)(width / column, 1e-9);
        if (!(share > 0) || to < 0 || from >= ridge_columns) { continue; }
        auto const first = static_cast<std::size_t>((std::clamp)(from, 0.0, ridge_columns - 1.0));
        auto const last = static_cast<std::size_t>((std::clamp)(to, 0.0, ridge_columns - 1.0));
        for (std::size_t i = first; i <= last; ++i) {
            double const begin = (std::max)(from, static_cast<double>(i));
            double const end = (std::min)(to, static_cast<double>(i + 1));
            if (end > begin) { shares[i] += share * (end - begin) / (to - from); }
        }
    }
    return shares;
}

}  // namespace spotter::inline SPOTTER_ABI::html::detail

namespace spotter::inline SPOTTER_ABI::html {

std::string draw(ridge_plot const& it) {
    using namespace detail;
    if (it.ridges.empty()) { return {}; }
    constexpr double width = 300, left = 46, right = 284, top = 34, row = 13;
    auto const [low, high] = ridge_range(it.ridges);
    axis const x{low, high, left, right};
    double const base = top + row * static_cast<double>(it.ridges.size() - 1);
    std::vector<std::array<double, ridge_columns>> shapes;
    double most = 0;
    for (ridge const& each : it.ridges) {
        shapes.push_back(ridge_shares(each.values, low, high));
        most = (std::max)(most, *std::max_element(shapes.back().begin(), shapes.back().end()));
    }
    std::string svg;
    for (axis::tick const& each : x.ticks(3)) {
        svg += fmt::format(R"(<path class="grid" d="M{0} 6V{1}"/><text x="{0}" y="{2}" class="mid">{3}</text>)",
                           place_text(each.place), place_text(base), place_text(base + 15), each.label);
    }
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        double const floor = top + row * static_cast<double>(i);
        std::string path = fmt::format("M{} {}", left, place_text(floor));
        for (std::size_t k = 0; k < ridge_columns; ++k) {
            double const place = left + (static_cast<double>(k) + 0.5) / ridge_columns * (right - left);
            // The root makes the few large values beside a peak visible.
            double const height = most > 0 ? std::sqrt(shapes[i][k] / most) * 28 : 0;
            path += fmt::format("L{} {}", place_text(place), place_text(floor - height));
        }
        path += fmt::format("L{} {}Z", right, place_text(floor));
        std::size_t const age = shapes.size() > 1 ? i * 8 / (shapes.size() - 1) : 8;
        svg +=
            fmt::format(R"(<path class="ridge r{}" d="{}"><title>step {}: {} to {}</title></path>)", age, path,
                        it.ridges[i].step, number_text(it.ridges[i].values.low), number_text(it.ridges[i].values.high));
        if (i == 0 || i + 1 == shapes.size() || (shapes.size() > 4 && i == shapes.size() / 2)) {
            svg += fmt::format(R"(<text x="{}" y="{}" class="end">{}</text>)", left - 5, place_text(floor),
                               short_count(static_cast<double>(it.ridges[i].step)));
        }
    }
    return fmt::format("<figure class=\"small\"><figcaption><b>{}</b></figcaption>"
                       R"(<svg viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg></figure>)"
                       "\n",
                       escape(it.title), width, place_text(base + 20),
                       escape(fmt::format("{}: {} from step {} to step {}, values from {} to {}", it.title,
                                          plural(it.ridges.size(), "histogram"), it.ridges.front().step,
                                          it.ridges.back().step, number_text(low), number_text(high))),
                       svg);
}

}  // namespace spotter::inline SPOTTER_ABI::html
