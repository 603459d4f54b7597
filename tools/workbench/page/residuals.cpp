// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the bodies of residuals.hpp.
#include "page/residuals.hpp"

#include "page/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace spotter::inline SPOTTER_ABI::html::detail {

struct regression {
    std::vector<double> labels{}, said{};
    std::string from{};
};

// Those of the last evaluation, or of the latest train steps; none where all labels are whole.
[[nodiscard]] static regression read_regression(tensor_story const& labels, tensor_story const& said, mode in,
                                                value_source& from) {
    constexpr std::size_t enough = 4096, most = 1U << 20U;
    regression found;
    bool fraction = false;
    auto const& steps = labels.modes[index_of(in)].recent;
    for (auto it = steps.rbegin(); it != steps.rend(); ++it) {
        bool const over = in == mode::eval ? it->at != steps.back().at : found.labels.size() >= enough;
        if (over || found.labels.size() >= most) { break; }
        recorded_value const truth = from.read(labels, it->step), answer = from.read(said, it->step);
        if (!truth || !answer || truth.view().count != answer.view().count) { continue; }
        std::vector<double> const a = row_major_values(truth.view()), b = row_major_values(answer.view());
        found.labels.insert(found.labels.end(), a.begin(), a.end());
        found.said.insert(found.said.end(), b.begin(), b.end());
        fraction = fraction || std::any_of(a.begin(), a.end(), [](double const& each) {
                       return is_finite(each) && (std::floor(each) < each || each < std::floor(each));
                   });
        if (found.from.empty()) {
            found.from = fmt::format("{} and {} at {}", labels.name, said.name, step_text(it->step));
        }
    }
    return fraction ? found : regression{};
}

// Floating-point labels, at least one of them not whole, and equally many predictions.
[[nodiscard]] static regression read_regression(run_story const& story, value_source& from) {
    for (mode const in : {mode::eval, mode::train}) {
        tensor_story const* const labels = kept_of(story, role::label, in);
        tensor_story const* const said = kept_of(story, role::prediction, in);
        if (labels == nullptr || said == nullptr || !is_floating(labels->info.type) || !is_floating(said->info.type)) {
            continue;
        }
        regression found = read_regression(*labels, *said, in, from);
        if (!found.labels.empty()) { return found; }
    }
    return {};
}

struct range {
    double low = 0, high = 0;
    bool any = false;
    void add(double const& value) {
        if (!is_finite(value)) { return; }
        low = any ? (std::min)(low, value) : value;
        high = any ? (std::max)(high, value) : value;
        any = true;
    }
};

[[nodiscard]] static std::string framed(axis const& x, axis const& y, std::string const& x_name,
                                        std::string const& inner) {
    std::string svg;
    for (axis::tick const& each : y.ticks(5)) {
        svg += fmt::format(R"(<path class="grid" d="M{} {}H{}"/><text x="{}" y="{}" dy="4" class="end">{}</text>)",
                           chart_left, place_text(each.place), chart_right, chart_left - 6, place_text(each.place),
                           each.label);
    }
    for (axis::tick const& each : x.ticks(5)) {
        svg += fmt::format(R"(<text x="{}" y="{}" class="mid">{}</text>)", place_text(each.place), chart_bottom + 16,
                           each.label);
    }
    return fmt::format(R"(<svg viewBox="0 0 {} {}" role="img">{}<path class="axis" d="M{} {}H{}"/>)"
                       R"(<text x="{}" y="{}" class="end">{}</text>{}</svg>)",
                       chart_width, chart_height, svg, chart_left, chart_bottom, chart_right, chart_right,
                       chart_height - 5, x_name, inner);
}

[[nodiscard]] static std::string draw_against(regression const& it) {
    constexpr std::size_t most_dots = 400;
    range all;
    for (std::size_t i = 0; i < it.labels.size(); ++i) { all.add(it.labels[i]), all.add(it.said[i]); }
    axis const x{all.low, all.high, chart_left + 4, chart_right - 4};
    axis const y = axis{all.low, all.high, chart_bottom, chart_top}.with_margin(0.03);
    std::string dots;
    std::size_t const stride = 1 + it.labels.size() / most_dots;
    for (std::size_t i = 0; i < it.labels.size(); i += stride) {
        if (!is_finite(it.labels[i]) || !is_finite(it.said[i])) { continue; }
        dots += 'M' + place_text(x.at(it.labels[i])) + ' ' + place_text(y.at(it.said[i])) + "h0";
    }
    std::string const inner = fmt::format(
        R"(<path class="grid dashed" d="M{} {}L{} {}"/><path class="dot c0" d="{}"/>)", place_text(x.at(all.low)),
        place_text(y.at(all.low)), place_text(x.at(all.high)), place_text(y.at(all.high)), dots);
    return fmt::format(
        "<figure><figcaption><b>Predictions over labels</b> <span class=\"note\">{}{}</span></figcaption>{}</figure>\n",
        escape(it.from), stride > 1 ? fmt::format(", every {}th sample drawn", stride) : "",
        framed(x, y, "label", inner));
}

[[nodiscard]] static std::string draw_histogram(regression const& it) {
    constexpr std::size_t columns = 40;
    range all;
    for (std::size_t i = 0; i < it.labels.size(); ++i) { all.add(it.said[i] - it.labels[i]); }
    if (!(all.high > all.low)) { return {}; }
    std::array<std::size_t, columns> counts{};
    for (std::size_t i = 0; i < it.labels.size(); ++i) {
        double const miss = it.said[i] - it.labels[i];
        if (!is_finite(miss)) { continue; }
        auto const at = static_cast<std::size_t>((miss - all.low) / (all.high - all.low) * columns);
        ++counts[(std::min)(at, columns - 1)];
    }
    axis const x{all.low, all.high, chart_left, chart_right};
    axis const y{0, static_cast<double>(*std::max_element(counts.begin(), counts.end())), chart_bottom, chart_top};
    double const width = (chart_right - chart_left) / columns;
    std::string inner;
    for (std::size_t k = 0; k < columns; ++k) {
        if (counts[k] == 0) { continue; }
        double const left = chart_left + width * static_cast<double>(k);
        inner += fmt::format(R"(<path class="column c0" d="M{} {}V{}h{}V{}Z"><title>{} to {}: {}</title></path>)",
                             place_text(left), chart_bottom, place_text(y.at(static_cast<double>(counts[k]))),
                             place_text(width - 1), chart_bottom,
                             number_text(all.low + (all.high - all.low) * static_cast<double>(k) / columns),
                             number_text(all.low + (all.high - all.low) * static_cast<double>(k + 1) / columns),
                             plural(counts[k], "sample"));
    }
    if (x.holds(0)) {
        inner += fmt::format(R"(<path class="axis" d="M{0} {1}V{2}"/>)", place_text(x.at(0)), chart_top, chart_bottom);
    }
    return fmt::format("<figure><figcaption><b>Residuals</b> <span class=\"note\">prediction minus "
                       "label</span></figcaption>{}</figure>\n",
                       framed(x, y, "residual", inner));
}

}  // namespace spotter::inline SPOTTER_ABI::html::detail

namespace spotter::inline SPOTTER_ABI::html {

residual_counts residuals_of(std::span<double const> labels, std::span<double const> said) {
    residual_counts it;
    double sum = 0, squares = 0, sizes = 0, label_sum = 0, label_squares = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        if (!is_finite(labels[i]) || !is_finite(said[i])) { continue; }
        double const miss = said[i] - labels[i];
        sum += miss, squares += miss * miss, sizes += magnitude(miss);
        label_sum += labels[i], label_squares += labels[i] * labels[i];
        ++it.count;
    }
    if (it.count == 0) { return it; }
    auto const n = static_cast<double>(it.count);
    it.mean = sum / n, it.mean_abs = sizes / n, it.root_mean_square = std::sqrt(squares / n);
    double const variance = label_squares / n - label_sum / n * (label_sum / n);
    it.explained = variance > 0 ? 1 - squares / n / variance : 0;
    return it;
}

section residuals_section(run_story const& story, value_source& from) {
    section it{"residuals", "Residuals", {}};
    detail::regression const read = detail::read_regression(story, from);
    residual_counts const found = residuals_of(read.labels, read.said);
    if (found.count < 2) { return it; }
    it.body =
        fmt::format(
            "<p>Of {} predictions are off by <b>{}</b> (root mean square), {} in the mean of sizes; their mean is {}, "
            "and they explain <b>{}</b> of the labels' variance (R²).</p>\n",
            plural(found.count, "label"), number_text(found.root_mean_square), number_text(found.mean_abs),
            number_text(found.mean), number_text(found.explained)) +
        grid_of(detail::draw_against(read) + detail::draw_histogram(read));
    return it;
}

}  // namespace spotter::inline SPOTTER_ABI::html
