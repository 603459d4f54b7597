// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the bodies of trees.hpp.
#include "page/trees.hpp"

#include <spotter/rule/builtin/tree_depth.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace spotter::inline SPOTTER_ABI::html::detail {

// The drawn kind of importance: gain if it was recorded.
[[nodiscard]] static tensor_story const* importance_of(run_story const& story) {
    tensor_story const* found = nullptr;
    for (tensor_story const& each : story.tensors) {
        if (each.info.role != role::importance || each.any_mode().kept.empty()) { continue; }
        if (found == nullptr || std::string_view{each.name}.ends_with("/gain")) { found = &each; }
    }
    return found;
}

[[nodiscard]] static bool is_of_feature(tensor_story const& it) {
    return it.info.role == role::average_shap && it.name != "average_shap/bias" && it.name != "average_shap/all";
}

// "f3", or its name if average SHAP values were recorded by name; those are in the order of the features.
[[nodiscard]] static std::vector<std::string> features_of(run_story const& story) {
    constexpr std::string_view front = "average_shap/";
    std::vector<std::string> names;
    for (tensor_story const& each : story.tensors) {
        if (is_of_feature(each) && each.name.starts_with(front)) { names.push_back(each.name.substr(front.size())); }
    }
    return names;
}
[[nodiscard]] static std::string feature_text(std::vector<std::string> const& names, std::size_t which) {
    return which < names.size() ? names[which] : fmt::format("f{}", which);
}

constexpr std::size_t most_bars = 12, most_curves = 6;

// A feature with a bar; `width` is in percent of the longest one.
[[nodiscard]] static std::string bar_row(std::string const& name, std::size_t colour, double width,
                                         std::string const& text) {
    return fmt::format(
        R"(<tr><th>{}</th><td class="bars"><i class="bar c{}" style="width:{:.1f}%"></i></td><td>{}</td></tr>)"
        "\n",
        escape(name), colour, width, text);
}
[[nodiscard]] static std::string bars_figure(std::string const& title, std::string const& note, bool named,
                                             std::string const& rows) {
    return fmt::format("<figure class=\"plain\"><figcaption><b>{}</b> <span class=\"note\">{}</span></figcaption>"
                       "<table class=\"balance{}\"><tbody>\n{}</tbody></table></figure>\n",
                       escape(title), escape(note), named ? " named" : "", rows);
}

// The indices of values, that of the largest `size` first.
template <class Size>
[[nodiscard]] std::vector<std::size_t> largest_first(std::vector<double> const& values, Size const& size) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return size(values[a]) != size(values[b]) ? size(values[a]) > size(values[b]) : a < b;
    });
    return order;
}

// The dozen largest absolute values as bars, negative ones in another colour; `text` formats one.
template <class Text>
[[nodiscard]] std::string bars_of(std::string const& title, std::string const& note, std::vector<double> const& values,
                                  std::vector<std::string> const& names, Text const& text) {
    auto const order = largest_first(values, [](double const& it) { return magnitude(it); });
    std::string rows;
    for (std::size_t i = 0; i < order.size() && i < most_bars; ++i) {
        double const value = values[order[i]];
        if (!(magnitude(value) > 0)) { break; }
        rows += bar_row(feature_text(names, order[i]), value < 0 ? 1 : 0,
                        100 * magnitude(value) / magnitude(values[order[0]]), text(value));
    }
    return rows.empty() ? rows : bars_figure(title, note, !names.empty(), rows);
}
// How far each feature moves predictions: the mean absolute value over all rows (and classes). Empty where the last
// values cannot be read, or are no matrix.
[[nodiscard]] static std::string full_shap_bars(tensor_story const& tensor, std::vector<std::string> const& names,
                                                value_source& from) {
    kept_step const last = tensor.any_mode().kept.items().back();
    recorded_value const value = from.read(tensor, last.step);
    if (!value || value.view().shape.rank < 2) { return {}; }
    auto const columns = static_cast<std::size_t>(value.view().shape.size[value.view().shape.rank - 1U]);
    if (columns < 2) { return {}; }
    std::vector<double> const all = row_major_values(value.view());
    std::vector<double> sizes(columns - 1);  // the last is the bias
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (i % columns < sizes.size() && is_finite(all[i])) {
            sizes[i % columns] += magnitude(all[i]) / static_cast<double>(all.size() / columns);
        }
    }
    return bars_of(
        "How far features move predictions",
        fmt::format("mean of |SHAP| over {} at {}", plural(all.size() / columns, "row"), step_text(last.step)), sizes,
        names, [](double const& it) { return number_text(it); });
}

// The mean direction in which each feature moves predictions, at the end and over the rounds.
[[nodiscard]] static std::string average_shap_figures(run_story const& story, std::vector<std::string> const& names) {
    std::vector<double> averages;
    std::vector<std::pair<double, tensor_story const*>> ends;
    for (tensor_story const& each : story.tensors) {
        if (!is_of_feature(each)) { continue; }
        averages.push_back(each.any_mode().value.last_value().value_or(0));
        ends.emplace_back(magnitude(averages.back()), &each);
    }
    std::string const bars =
        bars_of("Which way features move predictions", "mean SHAP value at the end; in the other colour: down",
                averages, names, [](double const& it) { return number_text(it); });
    std::sort(ends.begin(), ends.end(), [](auto const& a, auto const& b) {
        return a.first != b.first ? a.first > b.first : a.second->name < b.second->name;
    });
    chart picture{.title = "Mean SHAP values over the rounds", .step_name = "round", .may_be_log = false};
    for (std::size_t i = 0; i < ends.size() && i < most_curves; ++i) {
        tensor_story const& its = *ends[i].second;
        series const& data = its.any_mode().value;
        if (data.size() < 2) { continue; }
        picture.lines.push_back({&data, its.name.substr(its.name.find('/') + 1), static_cast<unsigned>(i), false});
    }
    return bars + (picture.lines.empty() ? std::string{} : draw(picture));
}

[[nodiscard]] static std::string shap_figures(run_story const& story, value_source& from) {
    std::vector<std::string> const names = features_of(story);
    std::string figures;
    for (tensor_story const& each : story.tensors) {
        if (each.info.role != role::full_shap || each.any_mode().kept.empty()) { continue; }
        figures += full_shap_bars(each, names, from);
    }
    return figures + average_shap_figures(story, names);
}

// The elements as shares of their sum; empty where they cannot be read, or sum up to nothing.
[[nodiscard]] static std::vector<double> shares_at(tensor_story const& tensor, step_id step, value_source& from) {
    recorded_value const value = from.read(tensor, step);
    if (!value) { return {}; }
    std::vector<double> shares = row_major_values(value.view());
    double const all = std::accumulate(shares.begin(), shares.end(), 0.0);
    if (!(all > 0)) { return {}; }
    for (double& share : shares) { share /= all; }
    return shares;
}

// The other kinds at the last step: how often trees split by a feature, and for how many samples.
[[nodiscard]] static std::string other_importances(run_story const& story, tensor_story const* drawn,
                                                   value_source& from) {
    std::string figures;
    std::vector<std::string> const names = features_of(story);
    for (tensor_story const& each : story.tensors) {
        if (each.info.role != role::importance || &each == drawn || each.any_mode().kept.empty()) { continue; }
        kept_step const last = each.any_mode().kept.items().back();
        figures += bars_of("Share of " + each.name, fmt::format("round {}", last.at), shares_at(each, last.step, from),
                           names, [](double const& it) { return percent_text(it); });
    }
    return figures;
}

[[nodiscard]] static std::string importance_figures(tensor_story const& tensor, std::vector<std::string> const& names,
                                                    value_source& from) {
    std::vector<std::pair<std::uint64_t, std::vector<double>>> rounds;
    for (kept_step const& each : tensor.any_mode().kept.items()) {
        std::vector<double> shares = shares_at(tensor, each.step, from);
        if (!shares.empty()) { rounds.emplace_back(each.at, std::move(shares)); }
    }
    if (rounds.empty()) { return {}; }
    std::vector<double> const& last = rounds.back().second;
    auto const order = largest_first(last, [](double const& it) { return it; });
    std::vector<series> curves(most_curves);
    chart picture{.title = "Share of " + tensor.name, .step_name = "round", .may_be_log = false};
    std::string bars;
    for (std::size_t i = 0; i < order.size() && i < most_bars; ++i) {
        double const share = last[order[i]];
        if (!(share > 0)) { break; }
        bars += bar_row(feature_text(names, order[i]), i < most_curves ? i : 0, 100 * share / last[order[0]],
                        percent_text(share));
        if (i >= most_curves) { continue; }
        for (auto const& [at, shares] : rounds) {
            if (order[i] < shares.size()) { curves[i].add(at, shares[order[i]]); }
        }
        picture.lines.push_back({&curves[i], feature_text(names, order[i]), static_cast<unsigned>(i), false});
    }
    std::string const note = fmt::format("{} of {}, round {}", (std::min)(order.size(), most_bars),
                                         plural(order.size(), "feature"), rounds.back().first);
    return (rounds.size() > 1 ? draw(picture) : std::string{}) +
           bars_figure("Features that matter most", note, !names.empty(), bars);
}

// The deepest tree of each round.
[[nodiscard]] static std::string depth_figure(run_story const& story) {
    series depth;
    for (tensor_story const& each : story.tensors) {
        if (!select::tree_ids(each.info)) { continue; }
        for (series::bucket const& it : each.any_mode().most.buckets()) {
            if (it.count == 0) { continue; }
            summary ids;
            ids.has = stats_mask::range, ids.count = 1, ids.maximum = it.most;
            measurement const found = tree_depth::depth_of(ids);
            if (found.known) { depth.add(static_cast<std::uint64_t>(it.middle()), found.value); }
        }
    }
    if (depth.empty()) { return {}; }
    return draw({.title = "Depth of the deepest tree",
                 .lines = {{&depth}},
                 .marks = marks_of(story),
                 .step_name = "round",
                 .may_be_log = false,
                 .whole_numbers = true,
                 .ceiling = depth.whole().most + 1});
}

}  // namespace spotter::inline SPOTTER_ABI::html::detail

namespace spotter::inline SPOTTER_ABI::html {

section trees_section(run_story const& story, value_source& from) {
    tensor_story const* const importance = detail::importance_of(story);
    std::string const figures =
        (importance != nullptr ? detail::importance_figures(*importance, detail::features_of(story), from)
                               : std::string{}) +
        detail::other_importances(story, importance, from) + detail::shap_figures(story, from) +
        detail::depth_figure(story);
    return {"trees", "Boosted trees", grid_of(figures)};
}

}  // namespace spotter::inline SPOTTER_ABI::html
