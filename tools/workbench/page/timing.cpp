// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the bodies of timing.hpp.
#include "page/timing.hpp"

#include "page/workers.hpp"
#include "profile/times.hpp"
#include <spotter/core/sentence.hpp>
#include <spotter/workbench/profile.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace spotter::inline SPOTTER_ABI::html::detail {

using spotter::detail::duration_text;

// Bars for tenths of a power of ten.
[[nodiscard]] static std::string time_histogram(step_times const& it, std::string_view title) {
    constexpr double width = 480, height = 150, bottom = 120, left = 36;
    int first = step_times::bins, last = 0;
    std::uint64_t most = 1;
    for (int i = 0; i < step_times::bins; ++i) {
        std::uint64_t const count = it.counts[static_cast<std::size_t>(i)];
        if (count == 0) { continue; }
        first = (std::min)(first, i), last = i, most = (std::max)(most, count);
    }
    first = (std::max)(0, first - 1), last = (std::min)(step_times::bins - 1, last + 1);
    double const column = (width - 2 * left) / (last - first + 1);
    std::string svg;
    for (int i = first; i <= last; ++i) {
        std::uint64_t const count = it.counts[static_cast<std::size_t>(i)];
        double const from = step_times::shortest * std::pow(10.0, i / 10.0), to = from * std::pow(10.0, 0.1);
        double const place = left + column * (i - first);
        // The root keeps a single slow step among thousands visible.
        double const size = std::sqrt(static_cast<double>(count) / static_cast<double>(most)) * (bottom - 10);
        if (count > 0) {
            svg += fmt::format(R"(<path class="column c0" d="M{} {}h{}V{}h-{}z"><title>{} to {}: {}</title></path>)",
                               place_text(place + 0.5), place_text(bottom - size), place_text(column - 1),
                               place_text(bottom), place_text(column - 1), duration_text(from), duration_text(to),
                               plural(count, "step"));
        }
        int const spacing = (last - first) / 5 + 1;
        if ((i - first) % spacing == spacing / 2) {
            svg += fmt::format(R"(<text x="{}" y="{}" class="mid">{}</text>)", place_text(place), bottom + 16,
                               duration_text(from));
        }
    }
    return fmt::format(
        "<figure><figcaption><b>{}</b> <span class=\"note\">heights are square roots of counts</span></figcaption>"
        R"(<svg viewBox="0 0 {} {}" role="img" aria-label="{}: median {}, longest {}">)"
        R"(<path class="axis" d="M0 {}H{}"/>{}</svg></figure>)"
        "\n",
        title, width, height, title, duration_text(it.quantile(0.5)), duration_text(it.seconds.whole().most), bottom,
        width, svg);
}

// A row for each mode, with several workers for each of them.
[[nodiscard]] static std::string time_rows(run_story const& story, run_profile const& it) {
    std::string rows;
    for (worker_profile const& worker : it.workers) {
        std::string const whose = it.workers.size() > 1 ? fmt::format(" of worker {}", worker.worker) : std::string{};
        for (mode_profile const& each : worker.modes) {
            duration_summary const& took = each.steps;
            rows += fmt::format("<tr{}><th>{}{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                                look_of(story, worker.worker).marked ? " class=\"marked\"" : "", name_of(each.mode),
                                whose, took.count, duration_text(took.mean()), duration_text(took.median),
                                duration_text(took.p99), duration_text(took.longest));
        }
    }
    return rows.empty() ? rows
                        : fmt::format("<div class=\"wide\"><table class=\"plain\"><thead><tr><th>steps "
                                      "of</th><td>timed</td><td>mean</td><td>median</td>"
                                      "<td>99 %</td><td>longest</td></tr></thead><tbody>\n{}</tbody></table></div>\n",
                                      rows);
}

// The composition of the steps of each mode: a bar for each section, with its subsections indented.
[[nodiscard]] static std::string shares(mode_profile const& it) {
    if (it.sections.empty()) { return {}; }
    std::string rows;
    auto const row = [&](std::string_view name, std::size_t depth, double share, std::string const& rest) {
        rows += fmt::format(
            "<tr><th style=\"padding-left:{}em\">{}</th><td>{:.1f} %</td><td class=\"share\"><span class=\"bar c{}\" "
            "style=\"width:{:.1f}%\"></span></td>{}</tr>\n",
            0.5 + static_cast<double>(depth), escape(name), 100 * share, (std::min)(depth, std::size_t{5}),
            (std::min)(100.0, 100 * share), rest);
    };
    for (section_profile const& each : it.sections) {
        auto const depth = static_cast<std::size_t>(std::count(each.path.begin(), each.path.end(), '/'));
        row(each.label(), depth, each.share,
            fmt::format("<td>{}</td><td>{}</td>", duration_text(each.spent.median), duration_text(each.spent.p99)));
    }
    row("in no section", 0, (std::max)(0.0, 1 - it.named), "<td></td><td></td>");
    return fmt::format(
        "<h3>What {} steps are made of</h3><div class=\"wide\"><table class=\"plain "
        "sections\"><thead><tr><th>section</th>"
        "<td>share</td><td></td><td>median</td><td>99 %</td></tr></thead><tbody>\n{}</tbody></table></div>\n",
        name_of(it.mode), rows);
}

// How time was spent: with several workers the steps of the lowest one, in the sentence all of them.
[[nodiscard]] static std::string where_time_went(run_profile const& it) {
    if (it.workers.empty() || it.workers.front().modes.empty()) { return {}; }
    std::string text = "<p><b>" + escape(it.verdict) + "</b></p>\n";
    for (mode_profile const& each : it.workers.front().modes) { text += shares(each); }
    std::string items;
    for (mode_profile const& each : it.workers.front().modes) {
        for (slow_step const& slow : each.slow) {
            items += fmt::format("<li>{}: {}, {:.3g} times the median{}{}</li>\n", step_text(slow.step),
                                 duration_text(slow.seconds), slow.seconds / each.steps.median,
                                 slow.section.empty() ? std::string{}
                                                      : fmt::format("; {} more than usual in {}",
                                                                    duration_text(slow.beyond), escape(slow.section)),
                                 slow.beside.empty() ? std::string{} : "; " + escape(slow.beside));
        }
    }
    return text + (items.empty() ? items : fmt::format("<h3>Slow steps</h3><ul>\n{}</ul>\n", items));
}

// The train steps of one worker by the times of their closes.
class step_clock {
public:
    step_clock(run_story const& story, std::uint32_t worker) {
        for (timed_step const& each : story.run->times()) {
            bool const its = each.worker == worker && each.step.mode == mode::train;
            if (its && (steps_.empty() || each.closed > steps_.back().first)) {
                steps_.emplace_back(each.closed, each.step.index);
            }
        }
    }
    [[nodiscard]] bool empty() const noexcept { return steps_.empty(); }
    // The last step that was closed by then.
    [[nodiscard]] std::uint64_t step_at(double time) const {
        auto const after = std::upper_bound(steps_.begin(), steps_.end(), std::pair{time, ~std::uint64_t{0}});
        return after == steps_.begin() ? steps_.front().second : std::prev(after)->second;
    }

private:
    std::vector<std::pair<double, std::uint64_t>> steps_{};
};

struct machine_line {
    std::string name, label;
};

// Shares of one as curves in percent; empty where none of them was sampled.
[[nodiscard]] static std::string machine_chart(run_story const& story, machine_profile const& machine,
                                               step_clock const& clock, std::string const& title,
                                               std::vector<machine_line> const& wanted, std::string const& note = {}) {
    chart picture{.title = title, .note = note, .marks = marks_of(story), .may_be_log = false, .ceiling = 100};
    std::vector<series> curves(wanted.size());
    unsigned colour = 0;
    for (std::size_t k = 0; k < wanted.size(); ++k) {
        machine_series const* const found = machine.find(wanted[k].name);
        if (found == nullptr) { continue; }
        for (std::size_t i = 0; i < found->values.size(); ++i) {
            if (std::isnan(found->values[i])) { continue; }
            curves[k].add(clock.step_at(machine.times[i]), 100 * found->values[i]);
        }
        if (!curves[k].empty()) { picture.lines.push_back({&curves[k], wanted[k].label, colour % 6, false}); }
        ++colour;
    }
    return picture.lines.empty() ? std::string{} : draw(picture);
}

// The machine's samples as curves over the train steps, with the findings; with several workers those of the lowest
// one.
[[nodiscard]] static std::string machine_charts(run_story const& story, run_profile const& profile) {
    if (profile.workers.empty() || profile.workers.front().machine.empty()) { return {}; }
    machine_profile const& machine = profile.workers.front().machine;
    step_clock const clock{story, profile.workers.front().worker};
    if (clock.empty()) { return {}; }
    std::string figures = machine_chart(
        story, machine, clock, "Processor, % of all cores",
        {{"cpu", "at work"}, {"own_cpu", "this process"}, {"other_cpu", "others"}, {"busiest_core", "busiest core"}});
    figures += machine_chart(story, machine, clock, "Waiting, % of the time",
                             {{"pressure/cpu", "for a core"},
                              {"pressure/memory", "for memory"},
                              {"pressure/io", "for disks"},
                              {"io_wait", "cores idle for disks"}},
                             "some task of the machine did");
    figures += machine_chart(story, machine, clock, "Memory, % of what is available", {{"memory", "of this process"}});
    std::vector<machine_line> gpus;
    std::string rows;
    for (machine_series const& each : machine.series) {
        rows += fmt::format("<tr><th>{}</th><td>{:.4g}</td><td>{:.4g}</td><td>{:.4g}</td></tr>\n", escape(each.name),
                            each.mean, each.p95, each.most);
        bool const is_memory = each.name.starts_with("gpu_mem/");
        if (!is_memory && !each.name.starts_with("gpu_util/")) { continue; }
        gpus.push_back({each.name, (is_memory ? "memory of " : "GPU ") + each.name.substr(each.name.rfind('/') + 1)});
    }
    figures += machine_chart(story, machine, clock, "GPUs, %", gpus);
    return "<h3>What the machine did meanwhile</h3>\n" + grid_of(figures) +
           fmt::format("<details><summary>All that was sampled, {}</summary><div class=\"wide\"><table "
                       "class=\"plain\"><thead><tr><th>sys/</th><td>mean</td><td>95 %</td>"
                       "<td>most</td></tr></thead><tbody>\n{}</tbody></table></div></details>\n",
                       plural(machine.times.size(), "time"), rows);
}

[[nodiscard]] static std::string losses_of(run_story const& story) {
    run_totals const& it = story.run->totals();
    if (it.dropped + it.thinned + it.closes_lost + it.refused == 0) {
        return paragraph("Nothing is missing: no observation was dropped, thinned or refused.");
    }
    std::string items;
    auto const item = [&](std::uint64_t count, std::string_view what, std::string_view why) {
        if (count > 0) { items += fmt::format("<li><b>{}</b> {}</li>\n", plural(count, what), why); }
    };
    item(it.dropped, "observation",
         "dropped: the ring was full. A larger ring, or <code>overflow::block</code>, keeps them.");
    item(it.thinned, "observation", "kept without the values, because the ring or the limit of the run was full.");
    item(it.closes_lost, "closing", "lost: these steps have no entry.");
    item(it.refused, "tensor", "refused by the hook: not contiguous, too deep, or observed outside of a step.");
    return fmt::format("<ul>\n{}</ul>\n", items);
}

}  // namespace spotter::inline SPOTTER_ABI::html::detail

namespace spotter::inline SPOTTER_ABI::html {

section timing_section(run_story const& story) {
    std::string figures;
    step_times const& train = story.times[index_of(mode::train)];
    step_times const& main = train.count > 0 ? train : story.times[index_of(mode::eval)];
    if (main.count > 1) {
        std::string const whose = story.ranks.ranks.empty() ? "" : "of all workers: ";
        figures += draw({.title = "Seconds from the step before",
                         .note = whose + "means, up to the longest of neighbouring steps",
                         .lines = {{&main.seconds}},
                         .marks = marks_of(story),
                         .may_be_log = false,
                         .ceiling = main.seconds.whole().most * 1.05});
        figures += detail::time_histogram(main, "Distribution of step times");
    }
    run_profile const profile = profile_of(*story.run);
    std::string body = grid_of(figures) + detail::time_rows(story, profile) + detail::where_time_went(profile) +
                       detail::machine_charts(story, profile);
    if (main.count > 0) {
        body += "<p class=\"note\">A step lasts from the close before it to its own, by the clock of the thread that "
                "trained.</p>\n";
    } else if (!story.tensors.empty()) {
        body += "<p class=\"note\">The record does not say how long its steps took.</p>\n";
    }
    if (!story.tensors.empty()) { body += "<h3>What the record lacks</h3>\n" + detail::losses_of(story); }
    std::string rows;
    for (recorded_collection const& each : story.run->collections()) {
        rows += fmt::format("<tr><th>{}</th><td>{}</td><td>{}</td></tr>\n", escape(each.name),
                            escape(spotter::detail::shortened(each.what).view()),
                            story.run->names(filter{.collection = each.name}).size());
    }
    if (!rows.empty()) {
        body += fmt::format("<details><summary>What was to be kept</summary><div class=\"wide\"><table "
                            "class=\"plain\"><thead><tr><th>collection</th>"
                            "<td>keeps</td><td>names</td></tr></thead><tbody>\n{}</tbody></table></div></details>\n",
                            rows);
    }
    return {"times", "Times and coverage", body};
}

}  // namespace spotter::inline SPOTTER_ABI::html
