// SPDX-License-Identifier: Apache-2.0
// The bodies of trees.hpp.
#pragma once

#include <spotter/report/html/trees.hpp>
#include <spotter/rule/builtin/tree_depth.hpp>

#include <numeric>

namespace spotter::inline SPOTTER_ABI::html::detail {

// The kind of importance that is drawn: by gain where it was recorded.
[[nodiscard]] SPOTTER_BODY tensor_story const* importance_of(run_story const& story) {
    tensor_story const* found = nullptr;
    for (tensor_story const& each : story.tensors) {
        if (each.info.role != role::importance || each.any_mode().kept.empty()) { continue; }
        if (found == nullptr || std::string_view{each.name}.ends_with("/gain")) { found = &each; }
    }
    return found;
}

[[nodiscard]] SPOTTER_BODY std::string importance_figures(tensor_story const& tensor, value_source& from) {
    constexpr std::size_t most = 6;
    std::vector<std::pair<std::uint64_t, std::vector<double>>> rounds;
    for (kept_step const& each : tensor.any_mode().kept.items()) {
        recorded_value const value = from.read(tensor, each.step);
        if (!value) { continue; }
        std::vector<double> shares = row_major_values(value.view());
        double const all = std::accumulate(shares.begin(), shares.end(), 0.0);
        if (!(all > 0)) { continue; }
        for (double& each_share : shares) { each_share /= all; }
        rounds.emplace_back(each.at, std::move(shares));
    }
    if (rounds.empty()) { return {}; }
    std::vector<double> const& last = rounds.back().second;
    std::vector<std::size_t> order(last.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return last[a] != last[b] ? last[a] > last[b] : a < b; });
    std::vector<series> curves(most);
    chart picture;
    picture.title = fmt::format("Share of {}", tensor.name);
    picture.step_name = "round";
    picture.may_be_log = false;
    std::string bars;
    for (std::size_t i = 0; i < order.size() && i < 12; ++i) {
        double const share = last[order[i]];
        if (!(share > 0)) { break; }
        bars += fmt::format(
            R"(<tr><th>f{}</th><td class="bars"><i class="bar c{}" style="width:{:.1f}%"></i></td><td>{}</td></tr>)"
            "\n",
            order[i], i < most ? i : 0, 100 * share / last[order[0]], percent_text(share));
        if (i >= most) { continue; }
        for (auto const& [at, shares] : rounds) {
            if (order[i] < shares.size()) { curves[i].add(at, shares[order[i]]); }
        }
        picture.lines.push_back({&curves[i], fmt::format("f{}", order[i]), static_cast<unsigned>(i), false});
    }
    return (rounds.size() > 1 ? draw(picture) : std::string{}) +
           fmt::format("<figure class=\"plain\"><figcaption><b>Features that matter most</b> <span class=\"note\">{} "
                       "of {}, round {}</span>"
                       "</figcaption><table class=\"balance\"><tbody>\n{}</tbody></table></figure>\n",
                       (std::min)(order.size(), std::size_t{12}), plural(order.size(), "feature"), rounds.back().first,
                       bars);
}

// The deepest tree of each round.
[[nodiscard]] SPOTTER_BODY std::string depth_figure(run_story const& story) {
    series depth;
    for (tensor_story const& each : story.tensors) {
        if (!select::tree_ids(each.info)) { continue; }
        for (series::bucket const& it : each.any_mode().most.buckets()) {
            if (it.count == 0) { continue; }
            summary ids;
            ids.has = terms::range, ids.count = 1, ids.maximum = it.most;
            measurement const found = tree_depth::depth_of(ids);
            if (found.known) { depth.add(static_cast<std::uint64_t>(it.middle()), found.value); }
        }
    }
    if (depth.empty()) { return {}; }
    chart picture;
    picture.title = "Depth of the deepest tree";
    picture.lines.push_back({&depth, {}, 0, false});
    picture.marks = marks_of(story);
    picture.step_name = "round";
    picture.may_be_log = false;
    picture.whole_numbers = true;
    picture.ceiling = depth.whole().most + 1;
    return draw(picture);
}

}  // namespace spotter::inline SPOTTER_ABI::html::detail

namespace spotter::inline SPOTTER_ABI::html {

SPOTTER_BODY section trees_section(run_story const& story, value_source& from) {
    tensor_story const* const importance = detail::importance_of(story);
    std::string const figures =
        (importance != nullptr ? detail::importance_figures(*importance, from) : std::string{}) +
        detail::depth_figure(story);
    return {"trees", "Boosted trees", grid_of(figures)};
}

}  // namespace spotter::inline SPOTTER_ABI::html
