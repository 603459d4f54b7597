// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the bodies of roc.hpp.
#include "page/roc.hpp"

#include "page/axis.hpp"
#include "page/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace spotter::inline SPOTTER_ABI::html {

roc_curve roc_of(std::string label, std::span<double const> scores, std::vector<bool> const& is_of_class) {
    roc_curve found{std::move(label), {}, 0};
    std::vector<std::size_t> order(scores.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
    auto const positives = static_cast<double>(std::count(is_of_class.begin(), is_of_class.end(), true));
    double const negatives = static_cast<double>(scores.size()) - positives;
    if (positives == 0 || negatives == 0) { return found; }
    double right = 0, wrong = 0;
    found.points.emplace_back(0, 0);
    for (std::size_t i = 0; i < order.size();) {
        // Samples with equal scores are one step: the curve is a straight line across them.
        double const score = scores[order[i]];
        for (; i < order.size() && !(scores[order[i]] < score); ++i) { (is_of_class[order[i]] ? right : wrong) += 1; }
        std::pair const next{wrong / negatives, right / positives};
        auto const& last = found.points.back();
        found.area += (next.first - last.first) * (next.second + last.second) / 2;
        found.points.push_back(next);
    }
    return found;
}

std::string draw(std::span<roc_curve const> curves, std::string_view note) {
    constexpr double width = 480, height = 300, left = 58, right = 460, top = 14, bottom = 266, finest = 0.004;
    axis const x{0, 1, left, right}, y{0, 1, bottom, top};
    std::string svg, legend;
    for (axis::tick const& each : y.ticks(5)) {
        svg += fmt::format(R"(<path class="grid" d="M{} {}H{}"/><text x="{}" y="{}" dy="4" class="end">{}</text>)",
                           left, place_text(each.place), right, left - 6, place_text(each.place), each.label);
    }
    for (axis::tick const& each : x.ticks(5)) {
        svg += fmt::format(R"(<text x="{}" y="{}" class="mid">{}</text>)", place_text(each.place), bottom + 16,
                           each.label);
    }
    svg += fmt::format(R"(<path class="axis" d="M{0} {1}H{2}"/><path class="grid dashed" d="M{0} {1}L{2} {3}"/>)"
                       R"(<text x="{2}" y="{4}" class="end">of the others taken for it</text>)",
                       left, bottom, right, top, height - 3);
    std::size_t drawn = 0;
    for (roc_curve const& each : curves) {
        if (each.points.empty() || drawn == 6) { continue; }
        std::string path;
        std::pair<double, double> last{-1, -1};
        for (auto const& point : each.points) {
            bool const is_end = point == each.points.back();
            if (!is_end && point.first - last.first < finest && point.second - last.second < finest) { continue; }
            path += (path.empty() ? 'M' : 'L') + place_text(x.at(point.first)) + ' ' + place_text(y.at(point.second));
            last = point;
        }
        svg += fmt::format(R"(<path class="line c{}" d="{}"><title>{}: area {:.4g}</title></path>)", drawn, path,
                           escape(each.label), each.area);
        legend += fmt::format(R"(<span class="key"><i class="c{}"></i>{}: {:.4g}</span> )", drawn, escape(each.label),
                              each.area);
        ++drawn;
    }
    if (drawn == 0) { return {}; }
    return fmt::format(
        "<figure><figcaption><b>ROC, and the area under it</b> {}<span class=\"note\">{}</span></figcaption>"
        R"(<svg viewBox="0 0 {} {}" role="img" aria-label="ROC curves">{}</svg></figure>)"
        "\n",
        legend, escape(note), width, height, svg);
}

}  // namespace spotter::inline SPOTTER_ABI::html
