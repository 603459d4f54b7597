// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the bodies of embeddings.hpp.
#include "page/embeddings.hpp"

#include <spotter/rule/builtin/classes.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace spotter::inline SPOTTER_ABI::html::detail {

constexpr std::size_t most_planes = 6, most_points = 600;
constexpr double plane_side = 240, plane_margin = 8;

// Ten hues, with adjacent classes far apart; the next ten classes have them darker, then lighter. Legible on light and
// dark backgrounds.
[[nodiscard]] static std::string colour_of_class(std::uint32_t which) {
    constexpr unsigned lightness[] = {50, 35, 68};
    return which == no_class ? std::string{"var(--soft)"}
                             : fmt::format("hsl({} 75% {}%)", 7 * which % 10 * 36, lightness[which / 10 % 3]);
}

// The classes in the first tensor of labels with values at the step.
[[nodiscard]] static std::vector<std::uint32_t> labels_at(run_story const& story, step_id step, value_source& from) {
    for (tensor_story const& each : story.tensors) {
        if (each.info.role != role::label) { continue; }
        recorded_value const value = from.read(each, step);
        if (value) { return classes_in(each, value.view(), false).classes; }
    }
    return {};
}

// One plane: a path of round dots for each class. `classes` receives the drawn ones.
[[nodiscard]] static std::string draw_plane(std::vector<double> const& points, std::vector<std::uint32_t> const& labels,
                                            names_of_classes const& names, std::string const& title,
                                            std::map<std::uint32_t, std::string>& classes) {
    std::size_t const count = points.size() / 2, stride = (count + most_points - 1) / most_points;
    double low[2] = {0, 0}, high[2] = {0, 0};
    bool any = false;
    for (std::size_t i = 0; i < count; ++i) {
        if (!is_finite(points[2 * i]) || !is_finite(points[2 * i + 1])) { continue; }
        for (std::size_t k = 0; k < 2; ++k) {
            low[k] = any ? (std::min)(low[k], points[2 * i + k]) : points[2 * i + k];
            high[k] = any ? (std::max)(high[k], points[2 * i + k]) : points[2 * i + k];
        }
        any = true;
    }
    double const range = (std::max)(high[0] - low[0], high[1] - low[1]);  // one scale for both axes
    std::map<std::uint32_t, std::string> dots;
    for (std::size_t i = 0; i < count; i += stride) {
        if (!is_finite(points[2 * i]) || !is_finite(points[2 * i + 1])) { continue; }
        auto const place = [&](std::size_t k) {
            double const share = range > 0 ? 0.5 + (points[2 * i + k] - (low[k] + high[k]) / 2) / range : 0.5;
            return plane_margin + (plane_side - 2 * plane_margin) * share;
        };
        dots[labels.size() == count ? labels[i] : no_class] +=
            fmt::format("M{:.1f} {:.1f}h0", place(0), plane_side - place(1));
    }
    std::string svg;
    for (auto const& [which, path] : dots) {
        classes[which] = which == no_class ? std::string{} : class_text(names, which);
        svg += fmt::format(
            R"(<path style="stroke:{};stroke-width:5;stroke-linecap:round;fill:none" d="{}"><title>{}</title></path>)",
            colour_of_class(which), path, classes[which]);
    }
    return fmt::format("<figure><figcaption><b>{}</b></figcaption>"
                       R"(<svg viewBox="0 0 {} {}" role="img" aria-label="{}: {} in {}">{}</svg></figure>)"
                       "\n",
                       title, plane_side, plane_side, title, plural(count, "point"), plural(dots.size(), "colour"),
                       svg);
}

}  // namespace spotter::inline SPOTTER_ABI::html::detail

namespace spotter::inline SPOTTER_ABI::html {

section embeddings_section(run_story const& story, value_source& from) {
    section it{"embeddings", "Embeddings", {}};
    for (tensor_story const& each : story.tensors) {
        bool const plane = each.info.shape.rank == 2 && each.info.shape.size[1] == 2;
        if (!each.name.starts_with("embedding/") || !plane) { continue; }
        std::vector<step_id> const steps = (*story.run)[each.name].payload_steps();
        std::size_t const shown = (std::min)(steps.size(), detail::most_planes);
        std::string figures;
        std::map<std::uint32_t, std::string> classes;
        std::uint64_t count = 0;
        for (std::size_t i = 0; i < shown; ++i) {  // evenly spaced, including the first and the last
            step_id const step = steps[shown > 1 ? i * (steps.size() - 1) / (shown - 1) : steps.size() - 1];
            recorded_value const value = from.read(each, step);
            if (!value) { continue; }
            std::vector<double> const points = row_major_values(value.view());
            count = points.size() / 2;
            figures += detail::draw_plane(points, detail::labels_at(story, step, from), story.class_names,
                                          step_text(step), classes);
        }
        if (figures.empty()) { continue; }
        std::string legend;
        for (auto const& [which, name] : classes) {
            if (which == no_class) { continue; }
            legend += fmt::format(R"(<span class="key"><i style="border-color:{}"></i>{}</span> )",
                                  detail::colour_of_class(which), name);
        }
        it.body += fmt::format(
            "<h3>{} <span class=\"note\">{} of {}{}</span></h3>\n<p>{}</p>\n<div class=\"grid small\">\n{}</div>\n",
            escape(each.name), shown, plural(steps.size(), "step"),
            count > detail::most_points ? fmt::format("; some {} of {} points", detail::most_points, count)
                                        : std::string{},
            legend, figures);
    }
    return it;
}

}  // namespace spotter::inline SPOTTER_ABI::html
