// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the bodies of layers.hpp.
#include "page/layers.hpp"

#include "page/heat_map.hpp"
#include "page/ridges.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI::html::detail {

[[nodiscard]] static std::vector<tensor_story const*> with_role(run_story const& story, role what) {
    std::vector<tensor_story const*> found;
    for (tensor_story const& each : story.tensors) {
        if (each.info.role == what && each.observations() > 0) { found.push_back(&each); }
    }
    return found;
}

std::size_t known(std::vector<tensor_story const*> const& all, series_of pick) {
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [&](auto const* each) { return !pick(each->any_mode()).empty(); }));
}

// For tensors of one role, in program order; `what` is part of the title: "gradient scale". Empty where none has it.
[[nodiscard]] static std::string heat_map_of(run_story const& story, std::vector<tensor_story const*> all,
                                             series_of pick, std::string_view title, bool decades) {
    constexpr std::size_t most = 64;
    std::erase_if(all, [&](auto const* each) { return pick(each->any_mode()).empty(); });
    auto const blamed = [&](tensor_story const& each) { return story.blames(each.name); };
    std::size_t const count = all.size();
    all = choose(all, most, blamed);
    heat_map map{std::string{title}, {}, {}, decades};
    if (count > all.size()) {
        map.note = fmt::format("{} of {}, evenly chosen, and those with findings", all.size(), count);
    }
    for (tensor_story const* const each : all) {
        map.strips.push_back({each->name, pick(each->any_mode()), blamed(*each)});
    }
    return draw(std::move(map));
}

// By the statistic that most of them have.
[[nodiscard]] static std::string scale_map(run_story const& story, role what, std::string_view title) {
    auto const all = with_role(story, what);
    bool const mean = known(all, of_mean_abs) >= known(all, of_root_mean_square);
    return heat_map_of(story, all, mean ? of_mean_abs : of_root_mean_square,
                       fmt::format("{}: {} of the elements", title, mean ? "mean size" : "root mean square"), true);
}

}  // namespace spotter::inline SPOTTER_ABI::html::detail

namespace spotter::inline SPOTTER_ABI::html {

section layers_section(run_story const& story) {
    using namespace detail;
    std::string body = scale_map(story, role::gradient, "Gradients");
    std::string const updates = heat_map_of(story, with_role(story, role::weight), of_change,
                                            "Updates: size of the change, relative to the weights before", true);
    body += updates;
    if (updates.empty()) { body += scale_map(story, role::weight, "Weights"); }
    return {"layers", "Layers over time", body};
}

section activations_section(run_story const& story) {
    using namespace detail;
    auto const all = with_role(story, role::activation);
    return {"activations", "Activations",
            heat_map_of(story, all, of_zeros, "Share of outputs that are zero", false) +
                heat_map_of(story, all, of_idle, "Share of units that no sample of the step activates", false)};
}

section histograms_section(run_story const& story) {
    constexpr std::size_t most = 6;
    std::string body;
    for (auto const& [what, title] : {std::pair{role::weight, "Weights"}, std::pair{role::gradient, "Gradients"},
                                      std::pair{role::activation, "Activations"}}) {
        std::vector<tensor_story const*> all = detail::with_role(story, what);
        std::erase_if(all, [](auto const* each) { return each->any_mode().spreads.empty(); });
        std::string figures;
        std::size_t const count = all.size();
        for (tensor_story const* const each :
             choose(all, most, [&](auto const& it) { return story.blames(it.name); })) {
            ridge_plot plot{each->name, {}};
            for (kept_spread const& it : each->any_mode().spreads.items()) {
                plot.ridges.push_back({it.where.at, it.values});
            }
            figures += draw(plot);
        }
        if (figures.empty()) { continue; }
        body += fmt::format(
            "<h3>{}{}</h3>\n<div class=\"grid small\">\n{}</div>\n", title,
            count > most ? fmt::format(" <span class=\"note\">{} of {}</span>", most, count) : std::string{}, figures);
    }
    if (!body.empty()) {
        body +=
            "<p class=\"note\">From the oldest step at the top to the latest; heights are square roots of shares, the "
            "outermost values are left out.</p>\n";
    }
    return {"histograms", "Histograms over time", body};
}

}  // namespace spotter::inline SPOTTER_ABI::html
