// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the bodies of chart.hpp.
#include "page/chart.hpp"

#include "page/axis.hpp"
#include "page/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace spotter::inline SPOTTER_ABI::html::detail {

[[nodiscard]] static std::string look_class(line const& it) {
    constexpr std::string_view names[] = {"", " dash1", " dash2"};
    return fmt::format("{}{}", names[it.dash % 3], it.strong ? " strong" : "");
}

extent extent_of(chart const& it) {
    series::bucket all{};
    for (line const& each : it.lines) { all.join(each.data->whole()); }
    extent found{all.least, all.most, all.first, all.last, all.count > 0, all.seen()};
    // A distant threshold would flatten the values; the caption has it too.
    if (it.threshold && found.finite && is_finite(*it.threshold)) {
        double const room = 2 * (found.most - found.least) + magnitude(found.most);
        if (*it.threshold >= found.least - room && *it.threshold <= found.most + room) {
            found.least = (std::min)(found.least, *it.threshold);
            found.most = (std::max)(found.most, *it.threshold);
        }
    }
    return found;
}

// Around each stretch of buckets with values: along the largest ones, and back along the smallest.
[[nodiscard]] static std::string band_of(line const& it, axis const& x, axis const& y) {
    std::string band, upper;
    std::vector<std::string> lower;
    auto const end_stretch = [&] {
        if (lower.size() > 1) {
            band += 'M' + upper;
            for (auto each = lower.rbegin(); each != lower.rend(); ++each) { band += 'L' + *each; }
            band += 'Z';
        }
        upper.clear(), lower.clear();
    };
    for (series::bucket const& each : it.data->buckets()) {
        if (each.count == 0) {
            if (each.bad > 0) { end_stretch(); }
            continue;
        }
        std::string const place = place_text(x.at(each.middle())) + ' ';
        upper += (upper.empty() ? "" : "L") + place + place_text(y.at(each.most));
        lower.push_back(place + place_text(y.at(each.least)));
    }
    end_stretch();
    return band;
}

// One path through all means; where buckets hold several values, a band around it.
static void draw_line(line const& it, axis const& x, axis const& y, std::string& svg) {
    auto const& buckets = it.data->buckets();
    bool const few =
        std::count_if(buckets.begin(), buckets.end(), [](auto const& each) { return each.count > 0; }) <= 40;
    std::string path, dots;
    bool open = false, several = false;
    for (series::bucket const& each : buckets) {
        if (each.count == 0) {
            open = open && each.bad == 0;  // without either nothing was observed
            continue;
        }
        std::string const centre = place_text(x.at(each.middle())) + ' ' + place_text(y.at(each.mean()));
        path += (open ? 'L' : 'M') + centre;
        if (few) {
            dots += 'M' + centre + "h0";
        } else if (!open) {
            path += "h0";  // draws an isolated point as a dot
        }
        open = true;
        several = several || each.count > 1;
    }
    if (several && it.band) { svg += fmt::format(R"(<path class="band c{}" d="{}"/>)", it.colour, band_of(it, x, y)); }
    svg += fmt::format(R"(<path class="line c{}{}" d="{}")", it.colour, look_class(it), path);
    svg += it.label.empty() ? "/>" : fmt::format("><title>{}</title></path>", escape(it.label));
    if (!dots.empty()) { svg += fmt::format(R"(<path class="dot c{}" d="{}"/>)", it.colour, dots); }
}

// Marks values that are not finite: shades each stretch from its first step to its last, with a cross above its
// beginning. Overlapping stretches are merged.
static void draw_bad(line const& it, axis const& x, std::string& svg) {
    constexpr double apart = 7;
    series::bucket stretch{};
    auto const end = [&] {
        if (stretch.bad == 0) { return; }
        double const from = x.at(static_cast<double>(stretch.bad_first)),
                     to = x.at(static_cast<double>(stretch.bad_last));
        svg += fmt::format(R"(<g><title>not finite at step {}{}</title>)", stretch.bad_first,
                           stretch.bad_last > stretch.bad_first
                               ? fmt::format(" to {}, {}", stretch.bad_last, plural(stretch.bad, "value"))
                               : std::string{});
        if (to - from >= 1) {
            svg += fmt::format(R"(<path class="stretch" d="M{} {}H{}V{}H{}Z"/>)", place_text(from), chart_top,
                               place_text(to), chart_bottom, place_text(from));
        }
        svg += fmt::format(R"(<path class="bad" d="M{} {}l6 6m0 -6l-6 6"/></g>)", place_text(from - 3), chart_top + 2);
        stretch = {};
    };
    for (series::bucket const& each : it.data->buckets()) {
        if (!each.seen()) { continue; }
        bool const distant = stretch.bad > 0 && x.at(static_cast<double>(each.bad > 0 ? each.bad_first : each.first)) -
                                                        x.at(static_cast<double>(stretch.bad_last)) >=
                                                    apart;
        if (each.bad == 0) {
            if (distant) { end(); }
            continue;
        }
        bool const follows = stretch.bad > 0 && (!distant || each.count == 0);
        if (!follows) { end(); }
        stretch.join(each);
    }
    end();
}

std::vector<std::optional<double>> running_means(series const& data) {
    constexpr double weight = 0.85;
    std::vector<std::optional<double>> all;
    double sum = 0, share = 0;
    for (series::bucket const& each : data.buckets()) {
        if (each.count == 0) {
            all.emplace_back();
            continue;
        }
        sum = weight * sum + (1 - weight) * each.mean();
        share = weight * share + (1 - weight);
        all.emplace_back(sum / share);
    }
    return all;
}

// Shown if "smooth" is ticked; empty for a curve with few points.
static std::string smooth_path(line const& it, axis const& x, axis const& y) {
    constexpr std::size_t fewest = 24;
    std::vector<std::optional<double>> const values = running_means(*it.data);
    if (static_cast<std::size_t>(
            std::count_if(values.begin(), values.end(), [](auto const& each) { return each.has_value(); })) < fewest) {
        return {};
    }
    std::string path;
    bool open = false;
    for (std::size_t i = 0; i < values.size(); ++i) {
        series::bucket const& each = it.data->buckets()[i];
        if (!values[i]) {
            open = open && each.bad == 0;
            continue;
        }
        path += (open ? 'L' : 'M') + place_text(x.at(each.middle())) + ' ' + place_text(y.at(*values[i]));
        open = true;
    }
    return fmt::format(R"(<path class="line smooth c{}" d="{}"/>)", it.colour, path);
}

// The values of each line under a column, one a line of text.
[[nodiscard]] static std::string values_under(chart const& it, std::vector<series::bucket> const& under) {
    std::string values;
    for (std::size_t i = 0; i < it.lines.size(); ++i) {
        series::bucket const& each = under[i];
        if (!each.seen()) { continue; }
        if (!values.empty()) { values += '\n'; }
        if (!it.lines[i].label.empty()) { values += it.lines[i].label + ' '; }
        values += each.count == 0 ? std::string{"not finite"} : number_text(each.mean());
        if (each.count > 1 && each.most > each.least) {
            values += fmt::format(" ({} to {})", number_text(each.least), number_text(each.most));
        }
    }
    return values;
}

// Columns over the whole chart, each with a tooltip of the values below it.
static std::string hover_columns(chart const& it, axis const& x, std::uint64_t first, std::uint64_t last) {
    constexpr std::size_t most_columns = 48, most_lines = 8;
    if (it.lines.size() > most_lines) { return {}; }
    std::size_t const columns = static_cast<std::size_t>((std::min)(std::uint64_t{most_columns - 1}, last - first)) + 1;
    std::vector<std::vector<series::bucket>> under(columns, std::vector<series::bucket>(it.lines.size()));
    double const left = chart_left, width = (right_of(it) - chart_left) / static_cast<double>(columns);
    for (std::size_t i = 0; i < it.lines.size(); ++i) {
        for (series::bucket const& each : it.lines[i].data->buckets()) {
            if (!each.seen()) { continue; }
            double const place = (x.at(each.middle()) - left) / width;
            under[(std::min)(columns - 1, static_cast<std::size_t>(place))][i].join(each);
        }
    }
    std::string svg;
    for (std::size_t k = 0; k < columns; ++k) {
        series::bucket all{};
        for (series::bucket const& each : under[k]) { all.join(each); }
        if (!all.seen()) { continue; }
        svg += fmt::format(R"(<path d="M{} {}h{}V{}h-{}Z"><title>{} {}{}{}{}</title></path>)",
                           place_text(left + width * static_cast<double>(k)), chart_top, place_text(width),
                           chart_bottom, place_text(width), escape(it.step_name), all.first,
                           all.last > all.first ? fmt::format(" to {}", all.last) : std::string{},
                           it.lines.size() > 1 ? "\n" : ": ", escape_lines(values_under(it, under[k])));
    }
    return R"(<g class="hover">)" + svg + "</g>";
}

static void draw_axes(axis const& x, axis const& y, chart const& it, std::string& svg) {
    for (axis::tick const& each : y.ticks(5, it.whole_numbers)) {
        std::string const place = place_text(each.place);
        svg +=
            fmt::format(R"(<path class="grid" d="M{0} {1}H{2}"/><text x="{3}" y="{1}" dy="4" class="end">{4}</text>)",
                        chart_left, place, right_of(it), chart_left - 6, each.label);
    }
    for (axis::tick const& each : x.ticks(5, true)) {
        constexpr double half_digit = 6;  // on a phone
        double const room = right_of(it) + 10 - half_digit * static_cast<double>(each.label.size());
        svg += fmt::format(R"(<text x="{}" y="{}" class="mid">{}</text>)", place_text((std::min)(each.place, room)),
                           chart_bottom + 16, each.label);
    }
    svg += fmt::format(R"(<path class="axis" d="M{} {}H{}"/><text x="{}" y="{}" class="end">{}</text>)", chart_left,
                       chart_bottom, right_of(it), right_of(it), chart_height - 5, escape(it.step_name));
}

// Labels at the ends of lines while there is room, strong lines first; the others are only in the legend.
static void draw_ends(chart const& it, axis const& x, axis const& y, std::string& svg) {
    std::vector<double> taken;
    std::vector<line const*> lines;
    for (bool const strong : {true, false}) {
        for (line const& each : it.lines) {
            if (each.strong == strong) { lines.push_back(&each); }
        }
    }
    for (line const* const which : lines) {
        line const& each = *which;
        if (each.end.empty()) { continue; }
        auto const& all = each.data->buckets();
        auto const last = std::find_if(all.rbegin(), all.rend(), [](auto const& here) { return here.count > 0; });
        if (last == all.rend()) { continue; }
        double const place = y.at(last->mean());
        bool const free =
            std::none_of(taken.begin(), taken.end(), [&](double at) { return magnitude(at - place) < 11; });
        if (!free) { continue; }
        taken.push_back(place);
        svg += fmt::format(R"(<text class="number c{}" x="{}" y="{}" dy="4">{}</text>)", each.colour,
                           place_text(x.at(last->middle()) + 4), place_text(place), escape(each.end));
    }
}

static void draw_marks(chart const& it, axis const& x, std::string& svg) {
    for (mark const& each : it.marks) {
        double const place = x.at(static_cast<double>(each.step));
        if (!x.holds(static_cast<double>(each.step))) { continue; }
        svg += fmt::format(
            R"(<g class="mark {}"><title>{}</title><path d="M{} {}V{}"/><path class="head" d="M{} {}l-4 -8h8z"/></g>)",
            name_of(each.severity), escape(each.label), place_text(place), chart_top, chart_bottom, place_text(place),
            chart_top);
    }
}

[[nodiscard]] static std::string legend_of(chart const& it, bool log) {
    std::string legend;
    for (line const& each : it.lines) {
        if (each.label.empty() || !each.named) { continue; }
        legend += fmt::format(R"(<span class="key"><i class="c{}{}"></i>{}</span> )", each.colour, look_class(each),
                              escape(each.label));
    }
    return log ? legend + R"(<span class="key">logarithmic</span> )" : legend;
}

// A line, named in the legend. Beyond the axis it is only in the note.
static void draw_threshold(chart const& it, axis const& y, std::string& legend, std::string& note, std::string& svg) {
    if (!it.threshold || !is_finite(*it.threshold)) { return; }
    std::string const value = number_text(*it.threshold);
    if (!y.holds(*it.threshold)) {
        note += fmt::format("{}threshold {}, beyond the axis", note.empty() ? "" : "; ", value);
        return;
    }
    legend += fmt::format(R"(<span class="key"><i class="limit"></i>threshold {}</span> )", value);
    svg += fmt::format(R"(<path class="limit" d="M{0} {1}H{2}"><title>threshold {3}</title></path>)", chart_left,
                       place_text(y.at(*it.threshold)), right_of(it), value);
}

// A description of the curves for screen readers.
[[nodiscard]] static std::string spoken(chart const& it) {
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

std::string draw(chart const& it) {
    using namespace detail;
    extent const around = extent_of(it);
    if (!around.seen) { return {}; }
    bool const log = it.may_be_log && around.finite && around.least > 0 && around.most / around.least > 50;
    axis const x{static_cast<double>(around.first), static_cast<double>(around.last), chart_left + 4, right_of(it) - 4};
    axis y{it.ceiling ? 0 : around.least, it.ceiling ? *it.ceiling : around.most, chart_bottom, chart_top, log};
    if (!it.ceiling) { y = y.with_margin(0.05); }
    std::string legend = legend_of(it, log), note = it.note, svg;
    draw_axes(x, y, it, svg);
    svg += hover_columns(it, x, around.first, around.last);
    draw_threshold(it, y, legend, note, svg);
    draw_marks(it, x, svg);
    for (line const& each : it.lines) {
        std::string const smooth = smooth_path(each, x, y);
        std::string drawn;
        draw_line(each, x, y, drawn);
        svg += smooth.empty() ? drawn : fmt::format(R"(<g class="raw">{}</g>{})", drawn, smooth);
        draw_bad(each, x, svg);
    }
    draw_ends(it, x, y, svg);
    return fmt::format("<figure{}><figcaption><b>{}</b> {}{}</figcaption>"
                       R"(<svg viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg></figure>)"
                       "\n",
                       it.wide ? " class=\"across\"" : "", escape(it.title), legend,
                       note.empty() ? "" : fmt::format(R"(<span class="note">{}</span>)", escape(note)),
                       it.wide ? chart_width + chart_more : chart_width, chart_height, escape(spoken(it)), svg);
}

std::string draw_alone(chart it) {
    std::string const narrow = draw(it);
    it.wide = true;
    return narrow.empty() ? narrow : fmt::format("<div class=\"alone\">\n{}{}</div>\n", narrow, draw(it));
}

}  // namespace spotter::inline SPOTTER_ABI::html
