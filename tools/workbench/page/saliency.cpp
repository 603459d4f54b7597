// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the bodies of saliency.hpp.
#include "page/saliency.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI::html::detail {

// The darkened picture with the map over it, from red to yellow.
[[nodiscard]] static picture with_map(picture of, std::span<float const> map, std::size_t height, std::size_t width) {
    for (std::size_t y = 0; y < of.height; ++y) {
        for (std::size_t x = 0; x < of.width; ++x) {
            double const says = static_cast<double>(map[y * height / of.height * width + x * width / of.width]);
            double const heat[] = {255, 230 * says, 0};
            for (std::size_t k = 0; k < 3; ++k) {
                std::uint8_t& pixel = of.pixels[3 * (y * of.width + x) + k];
                pixel = static_cast<std::uint8_t>(0.55 * pixel * (1 - says) + heat[k] * says);
            }
        }
    }
    return of;
}

// The classes in a tensor of this role at the step; empty where there are none.
[[nodiscard]] static classes_said classes_at(run_story const& story, role what, step_id step, value_source& from) {
    for (tensor_story const& each : story.tensors) {
        if (each.info.role != what) { continue; }
        recorded_value const value = from.read(each, step);
        if (value) { return classes_in(each, value.view(), false); }
    }
    return {};
}

}  // namespace spotter::inline SPOTTER_ABI::html::detail

namespace spotter::inline SPOTTER_ABI::html {

section saliency_section(run_story const& story, value_source& from) {
    constexpr std::size_t most = 12, most_values = 16U << 20;
    section it{"saliency", "Saliency", {}};
    saliency_names const names;
    std::vector<step_id> const steps = (*story.run)[names.output].payload_steps();
    if (steps.empty()) { return it; }
    step_id const step = steps.back();
    std::uint64_t values = 0;
    for (std::string const& each : story.run->names(filter{.step = step, .pattern = "grad/*"})) {
        if (auto const shape = (*story.run)[each].shape(step)) { values += shape->elements(); }
    }
    if (values > most_values) {
        it.body =
            paragraph(fmt::format("{}: {} values of gradients are more than a page reads; full_gradients reads them.",
                                  step_text(step), values));
        return it;
    }
    auto const maps = full_gradients(*story.run, step, names);
    recorded_value const input = (*story.run)[names.input].at(step);
    if (!maps || !input) {
        it.body = paragraph(describe(!maps ? maps.error() : input.error()));
        return it;
    }
    detail::image_shape const shape = detail::image_of(input.view().shape);
    std::vector<double> const pixels = row_major_values(input.view());
    std::size_t const size = shape.width * shape.height * shape.channels;
    if (size == 0 || pixels.size() != size * maps->samples) { return it; }
    auto const labels = detail::classes_at(story, role::label, step, from).classes;
    detail::classes_said const said = detail::classes_at(story, role::prediction, step, from);
    auto const name = [&](std::uint32_t which) { return detail::class_text(story.class_names, which); };
    // What it is, or what it was taken for.
    auto const caption = [&](std::size_t n) {
        if (n >= said.classes.size()) { return fmt::format("sample {}", n); }
        bool const is_right = n >= labels.size() || labels[n] == said.classes[n];
        return is_right ? name(said.classes[n]) : name(labels[n]) + " taken for " + name(said.classes[n]);
    };
    std::string cells;
    for (std::size_t n = 0; n < maps->samples && n < most; ++n) {
        picture const plain = detail::draw_sample(std::span{pixels}.subspan(n * size, size), shape);
        cells += fmt::format(R"(<figure class="sample"><img alt="" src="{}"><img alt="what says it" src="{}">)"
                             R"(<figcaption>{}</figcaption></figure>)"
                             "\n",
                             data_uri(plain), data_uri(detail::with_map(plain, maps->of(n), maps->height, maps->width)),
                             caption(n));
    }
    it.body =
        fmt::format("<p>At {}, the first {} of {}. Below each picture are the parts that led to the output: red "
                    "little, yellow much. "
                    "The parts add up to the output except for {} of it.</p>\n<div class=\"gallery\">\n{}</div>\n",
                    step_text(step), (std::min)(most, maps->samples), plural(maps->samples, "sample"),
                    percent_text(maps->incompleteness()), cells);
    return it;
}

}  // namespace spotter::inline SPOTTER_ABI::html
