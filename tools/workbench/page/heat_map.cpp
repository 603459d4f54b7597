// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the bodies of heat_map.hpp.
#include "page/heat_map.hpp"

#include "page/axis.hpp"
#include "page/text.hpp"

#include <spotter/core/casts.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace spotter::inline SPOTTER_ABI::html::detail {

heat_scale::heat_scale(heat_map const& it) {
    if (!it.decades) { return; }
    std::vector<double> all;
    for (strip const& each : it.strips) {
        for (series::bucket const& cell : each.data.buckets()) {
            if (cell.count > 0 && cell.mean() > 0) { all.push_back(std::log10(cell.mean())); }
        }
    }
    empty = all.empty();
    if (empty) { return; }
    std::sort(all.begin(), all.end());
    low = all[all.size() / 50];
    high = all[all.size() - 1 - all.size() / 50];
    if (high - low < 1) {
        double const centre = (low + high) / 2;
        low = centre - 0.5, high = centre + 0.5;
    }
}

int level_of(series::bucket const& cell, heat_scale const& scale, bool decades) noexcept {
    constexpr int zero = heat_levels, bad = heat_levels + 1;
    if (cell.bad > 0) { return bad; }
    if (cell.count == 0) { return -1; }
    double value = cell.mean();
    if (decades && !(value > 0)) { return zero; }
    if (decades) { value = std::log10(value); }
    double const share = (std::clamp)((value - scale.low) / (scale.high - scale.low), 0.0, 1.0);
    return (std::min)(heat_levels - 1, static_cast<int>(share * heat_levels));
}

[[nodiscard]] static std::string level_name(int level) {
    return level < heat_levels ? fmt::format("h{}", level) : level == heat_levels ? "hz" : "hx";
}

// Where a strip has fewer values than columns, a cell without observations is drawn like the one before it.
[[nodiscard]] static std::string strip_svg(strip const& it, heat_scale const& scale, bool decades, std::uint64_t begin,
                                           std::uint64_t columns) {
    std::vector<std::string> paths(heat_levels + 2);
    int run_level = -1;
    std::uint64_t run_begin = 0, gap = 0;
    auto const flush = [&](std::uint64_t end) {
        if (run_level >= 0) {
            paths[static_cast<std::size_t>(run_level)] +=
                fmt::format("M{} 0h{}v1h-{}z", run_begin, end - run_begin, end - run_begin);
        }
    };
    std::uint64_t const offset = it.data.begin_number() - begin;
    std::uint64_t seen = 0;
    for (series::bucket const& each : it.data.buckets()) { seen += each.seen() ? 1U : 0U; }
    std::uint64_t const spacing = seen > 0 ? it.data.buckets().size() / seen + 1 : 1;
    for (std::uint64_t i = 0; i < it.data.buckets().size(); ++i) {
        series::bucket const& cell = it.data.buckets()[as_size(i)];
        gap = cell.seen() ? 0 : gap + 1;
        int const level = cell.seen() ? level_of(cell, scale, decades) : gap <= 2 * spacing ? run_level : -1;
        if (level == run_level) { continue; }
        flush(offset + i);
        run_level = level, run_begin = offset + i;
    }
    flush(offset + it.data.buckets().size());
    std::string svg;
    for (int level = 0; level < heat_levels + 2; ++level) {
        std::string const& path = paths[static_cast<std::size_t>(level)];
        if (!path.empty()) { svg += fmt::format(R"(<path class="{}" d="{}"/>)", level_name(level), path); }
    }
    series::bucket const all = it.data.whole();
    std::optional<double> const last = it.data.last_value();
    return fmt::format(
        R"(<svg viewBox="0 0 {} 1" preserveAspectRatio="none" role="img" aria-label="{}"><title>{}</title>{}</svg>)",
        columns, escape(it.label),
        escape(fmt::format("{}: {} to {}, at the end {}; steps {} to {}{}", it.label, number_text(all.least),
                           number_text(all.most), last ? number_text(*last) : "unknown", all.first, all.last,
                           all.bad > 0 ? "; some not finite" : "")),
        svg);
}

[[nodiscard]] static std::string heat_legend(heat_scale const& scale, bool decades, bool zero, bool bad) {
    std::string cells;
    for (int i = 0; i < heat_levels; ++i) { cells += fmt::format(R"(<i class="h{}"></i>)", i); }
    auto const end = [&](double at) { return decades ? number_text(std::pow(10.0, at)) : percent_text(at); };
    std::string text;
    if (!scale.empty) {
        text =
            fmt::format(R"(<span class="ramp">{} <span>{}</span> {}</span>)", end(scale.low), cells, end(scale.high));
    }
    if (zero) { text += R"( <span class="key"><i class="box hz"></i>exactly zero</span>)"; }
    if (bad) { text += R"( <span class="key"><i class="box hx"></i>not finite</span>)"; }
    return text;
}

}  // namespace spotter::inline SPOTTER_ABI::html::detail

namespace spotter::inline SPOTTER_ABI::html {

std::string draw(heat_map it) {
    using namespace detail;
    unsigned shift = 0;
    std::erase_if(it.strips, [](strip const& each) { return each.data.empty(); });
    if (it.strips.empty()) { return {}; }
    for (strip const& each : it.strips) { shift = (std::max)(shift, each.data.shift()); }
    std::uint64_t begin = ~std::uint64_t{0}, end = 0, first = ~std::uint64_t{0}, last = 0;
    bool zero = false, bad = false;
    for (strip& each : it.strips) {
        each.data.coarsen(shift);
        begin = (std::min)(begin, each.data.begin_number());
        end = (std::max)(end, each.data.begin_number() + each.data.buckets().size());
        first = (std::min)(first, each.data.first_step());
        last = (std::max)(last, each.data.last_step());
    }
    heat_scale const scale{it};
    std::string rows;
    for (strip const& each : it.strips) {
        for (series::bucket const& cell : each.data.buckets()) {
            int const level = level_of(cell, scale, it.decades);
            zero = zero || level == heat_levels;
            bad = bad || level == heat_levels + 1;
        }
        std::optional<double> const latest = each.data.last_value();
        rows += fmt::format("<tr{}><th>{}</th><td>{}</td><td>{}</td></tr>\n", each.blamed ? R"( class="blamed")" : "",
                            escape(each.label), strip_svg(each, scale, it.decades, begin, end - begin),
                            !latest      ? std::string{}
                            : it.decades ? fmt::format("{:.3g}", *latest)
                                         : percent_text(*latest));
    }
    return fmt::format("<figure class=\"heat\"><figcaption><b>{}</b> {}{}</figcaption>\n"
                       "<table><tbody>{}</tbody><tfoot><tr><th></th><td><span class=\"ends\"><span>step {}</span>"
                       "<span>{}</span></span></td><td>last</td></tr></tfoot></table></figure>\n",
                       escape(it.title), heat_legend(scale, it.decades, zero, bad),
                       it.note.empty() ? "" : fmt::format(R"(<span class="note">{}</span>)", escape(it.note)), rows,
                       first, last);
}

}  // namespace spotter::inline SPOTTER_ABI::html
