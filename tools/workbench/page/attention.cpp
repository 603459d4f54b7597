// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the bodies of attention.hpp.
#include "page/attention.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI::html::detail {

constexpr std::size_t most_layers = 12, most_heads_drawn = 16, most_side = 128;

// The mean of a head's weights over the batch, for the first 128 queries and keys.
[[nodiscard]] static picture draw_head(std::vector<double> const& weights, attention_heads::sizes const& of,
                                       std::size_t head) {
    picture made{(std::min)(of.keys, most_side), (std::min)(of.queries, most_side), {}};
    std::vector<double> row(made.width);
    for (std::size_t query = 0; query < made.height; ++query) {
        double most = 0;
        for (std::size_t key = 0; key < made.width; ++key) {
            row[key] = 0;
            for (std::size_t n = 0; n < of.samples; ++n) {
                double const weight = weights[n * of.sample_step + head * of.head_step + query * of.query_step + key];
                row[key] += is_finite(weight) ? weight : 0;
            }
            most = (std::max)(most, row[key]);
        }
        for (double const each : row) {
            double const share = most > 0 ? (std::max)(each, 0.0) / most : 0;
            made.pixels.push_back(static_cast<std::uint8_t>(255 - 225 * share));
            made.pixels.push_back(static_cast<std::uint8_t>(255 - 190 * share));
            made.pixels.push_back(static_cast<std::uint8_t>(255 - 125 * share));
        }
    }
    return made;
}

[[nodiscard]] static std::string head_text(std::size_t which, attention_heads::head const& it) {
    std::string text = fmt::format("head {}: spread {}", which, percent_text(it.entropy));
    if (it.share >= 0.5) { text += fmt::format(", {} on key {:.0f}", percent_text(it.share), it.position); }
    if (it.distance <= 0.1) { text += fmt::format(", as head {:.0f}", it.next); }
    return text;
}

// Empty where the values are no attention weights.
[[nodiscard]] static std::string draw_layer(tensor_ref const& values) {
    attention_heads::sizes const of = attention_heads::sizes_of(values.shape, order::row_major);
    attention_heads::scratch own;
    feature measured;
    attention_heads::extract(own, values, measured);
    std::size_t const heads = attention_heads::count_in(measured.all());
    if (!of.fit() || heads == 0) { return {}; }
    std::vector<double> const weights = row_major_values(values);
    std::string cells;
    for (std::size_t h = 0; h < heads && h < most_heads_drawn; ++h) {
        cells += fmt::format(
            R"(<figure class="sample"><img alt="what head {} looks at" src="{}"><figcaption>{}</figcaption></figure>)"
            "\n",
            h, data_uri(draw_head(weights, of, h)), head_text(h, attention_heads::of(measured.all(), h)));
    }
    return cells;
}

}  // namespace spotter::inline SPOTTER_ABI::html::detail

namespace spotter::inline SPOTTER_ABI::html {

section attention_section(run_story const& story, value_source& from) {
    section it{"attention", "Attention", {}};
    std::vector<tensor_story const*> layers;
    for (tensor_story const& each : story.tensors) {
        bool const named = each.name.starts_with("attention/") || each.name.ends_with("/attention");
        if (named && !(*story.run)[each.name].payload_steps().empty()) { layers.push_back(&each); }
    }
    for (tensor_story const* const each : choose(layers, detail::most_layers, [](auto const&) { return false; })) {
        step_id const step = (*story.run)[each->name].payload_steps().back();
        recorded_value const value = from.read(*each, step);
        std::string const cells = value ? detail::draw_layer(value.view()) : std::string{};
        if (cells.empty()) { continue; }
        it.body += fmt::format("<h3>{} <span class=\"note\">at {}</span></h3>\n<div class=\"gallery\">\n{}</div>\n",
                               escape(each->name), step_text(step), cells);
    }
    if (!it.body.empty()) {
        it.body = "<p>A picture a head: queries from the top, keys from the left, each row from 0 to its largest. "
                  "Spread: the entropy of the weights over that of even ones.</p>\n" +
                  it.body;
    }
    return it;
}

}  // namespace spotter::inline SPOTTER_ABI::html
