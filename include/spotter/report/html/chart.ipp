// SPDX-License-Identifier: Apache-2.0
// The bodies of chart.hpp.
#pragma once

#include <spotter/report/html/axis.hpp>
#include <spotter/report/html/chart.hpp>

namespace spotter::inline SPOTTER_ABI::html::detail {

SPOTTER_BODY extent extent_of(chart const& it) {
    series::bucket all{};
    for (line const& each : it.lines) { all.join(each.data->whole()); }
    extent found{all.least, all.most, all.first, all.last, all.count > 0, all.seen()};
    // A threshold far away from the values would flatten them; it is told in the caption, too.
    if (it.threshold && found.finite && is_finite(*it.threshold)) {
        double const room = 2 * (found.most - found.least) + magnitude(found.most);
        if (*it.threshold > found.least - room && *it.threshold < found.most + room) {
            found.least = (std::min)(found.least, *it.threshold);
            found.most = (std::max)(found.most, *it.threshold);
        }
    }
    return found;
}

// One path through all means, and one around each stretch in which buckets hold several values.
SPOTTER_BODY void draw_line(line const& it, axis const& x, axis const& y, std::string& svg) {
    std::string path, band, upper, dots;
    std::vector<std::string> lower;
    auto const end_band = [&] {
        if (lower.size() > 1) {
            band += 'M' + upper;
            for (auto each = lower.rbegin(); each != lower.rend(); ++each) { band += 'L' + *each; }
            band += 'Z';
        }
        upper.clear(), lower.clear();
    };
    bool open = false, several = false;
    std::size_t drawn = 0;
    for (series::bucket const& each : it.data->buckets()) { drawn += each.count > 0 ? 1 : 0; }
    for (series::bucket const& each : it.data->buckets()) {
        if (each.count == 0) {
            if (each.bad == 0) { continue; }  // nothing was observed
            open = false;
            end_band();
            continue;
        }
        std::string const place = place_text(x.at(each.middle())) + ' ';
        std::string const centre = place + place_text(y.at(each.mean()));
        path += (open ? 'L' : 'M') + centre;
        if (drawn <= 40) { dots += 'M' + centre + "h0"; }
        if (!open && drawn > 40) { path += "h0"; }  // so that a lonely one is a dot
        open = true;
        several = several || each.count > 1;
        upper += (upper.empty() ? "" : "L") + place + place_text(y.at(each.most));
        lower.push_back(place + place_text(y.at(each.least)));
    }
    end_band();
    if (several && it.band) { svg += fmt::format(R"(<path class="band c{}" d="{}"/>)", it.colour, band); }
    svg += fmt::format(R"(<path class="line c{}{}" d="{}")", it.colour, it.dashed ? " dashed" : "", path);
    svg += it.label.empty() ? "/>" : fmt::format("><title>{}</title></path>", escape(it.label));
    if (!dots.empty()) { svg += fmt::format(R"(<path class="dot c{}" d="{}"/>)", it.colour, dots); }
}

// Where values are not finite: crosses along the top, neighbours as one.
SPOTTER_BODY void draw_bad(line const& it, axis const& x, std::string& svg) {
    double last = -100;
    for (series::bucket const& each : it.data->buckets()) {
        double const place = x.at(each.middle());
        if (each.bad == 0 || place - last < 7) { continue; }
        last = place;
        svg += fmt::format(
            R"(<path class="bad" d="M{0} {1}l6 6m0 -6l-6 6"><title>not finite at step {2}{3}</title></path>)",
            place_text(place - 3), chart_top + 2, each.first,
            each.last > each.first ? fmt::format(" to {}", each.last) : std::string{});
    }
}

SPOTTER_BODY void draw_axes(axis const& x, axis const& y, chart const& it, std::string& svg) {
    for (axis::tick const& each : y.ticks(5, it.whole_numbers)) {
        std::string const place = place_text(each.place);
        svg +=
            fmt::format(R"(<path class="grid" d="M{0} {1}H{2}"/><text x="{3}" y="{1}" dy="4" class="end">{4}</text>)",
                        chart_left, place, chart_right, chart_left - 6, each.label);
    }
    for (axis::tick const& each : x.ticks(5, true)) {
        svg += fmt::format(R"(<text x="{}" y="{}" class="mid">{}</text>)", place_text(each.place), chart_bottom + 16,
                           each.label);
    }
    svg += fmt::format(R"(<path class="axis" d="M{} {}H{}"/><text x="{}" y="{}" class="end">{}</text>)", chart_left,
                       chart_bottom, chart_right, chart_right, chart_height - 5, escape(it.step_name));
}

SPOTTER_BODY void draw_marks(chart const& it, axis const& x, std::string& svg) {
    for (mark const& each : it.marks) {
        double const place = x.at(static_cast<double>(each.step));
        if (!x.holds(static_cast<double>(each.step))) { continue; }
        svg += fmt::format(
            R"(<g class="mark {}"><title>{}</title><path d="M{} {}V{}"/><path class="head" d="M{} {}l-4 -8h8z"/></g>)",
            name_of(each.severity), escape(each.label), place_text(place), chart_top, chart_bottom, place_text(place),
            chart_top);
    }
}

// What someone hears who cannot see the curves.
[[nodiscard]] SPOTTER_BODY std::string spoken(chart const& it) {
    std::string text = it.title;
    for (line const& each : it.lines) {
        series::bucket const all = each.data->whole();
        text += fmt::format("; {}", each.label.empty() ? "curve" : each.label);
        std::optional<double> const last = each.data->last_value();
        if (!last) {
            text += ": nothing finite";
            continue;
        }
        text += fmt::format(": {} to {} over steps {} to {}, at the end {}", number_text(all.least),
                            number_text(all.most), all.first, all.last, number_text(*last));
    }
    return text;
}

}  // namespace spotter::inline SPOTTER_ABI::html::detail

namespace spotter::inline SPOTTER_ABI::html {

SPOTTER_BODY std::string draw(chart const& it) {
    using namespace detail;
    extent const around = extent_of(it);
    if (!around.seen) { return {}; }
    bool const log = it.may_be_log && around.finite && around.least > 0 && around.most / around.least > 50;
    axis const x{static_cast<double>(around.first), static_cast<double>(around.last), chart_left + 4, chart_right - 4};
    axis y{it.ceiling ? 0 : around.least, it.ceiling ? *it.ceiling : around.most, chart_bottom, chart_top, log};
    if (!it.ceiling) { y = y.with_margin(0.05); }
    std::string legend, svg;
    for (line const& each : it.lines) {
        if (!each.label.empty() && each.named) {
            legend += fmt::format(R"(<span class="key"><i class="c{}{}"></i>{}</span> )", each.colour,
                                  each.dashed ? " dashed" : "", escape(each.label));
        }
    }
    if (log) { legend += R"(<span class="key">logarithmic</span> )"; }
    draw_axes(x, y, it, svg);
    if (it.threshold && is_finite(*it.threshold) && y.holds(*it.threshold)) {
        svg += fmt::format(R"(<path class="limit" d="M{0} {1}H{2}"><title>threshold {3}</title></path>)", chart_left,
                           place_text(y.at(*it.threshold)), chart_right, number_text(*it.threshold));
    }
    draw_marks(it, x, svg);
    for (line const& each : it.lines) {
        draw_line(each, x, y, svg);
        draw_bad(each, x, svg);
    }
    return fmt::format("<figure><figcaption><b>{}</b> {}{}</figcaption>"
                       R"(<svg viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg></figure>)"
                       "\n",
                       escape(it.title), legend,
                       it.note.empty() ? "" : fmt::format(R"(<span class="note">{}</span>)", escape(it.note)),
                       chart_width, chart_height, escape(spoken(it)), svg);
}

}  // namespace spotter::inline SPOTTER_ABI::html
