// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the bodies of curves.hpp.
#include "page/curves.hpp"

#include "page/workers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

namespace spotter::inline SPOTTER_ABI::html::detail {

[[nodiscard]] static std::size_t modes_with_values(tensor_story const& it) {
    std::size_t modes = 0;
    for (std::size_t mode = 0; mode < mode_count; ++mode) { modes += it.modes[mode].value.empty() ? 0U : 1U; }
    return modes;
}

// 0: a loss, 1: a metric, 2: another number; 3: no curve.
[[nodiscard]] static int kind_of_curve(tensor_story const& it) {
    if (modes_with_values(it) == 0) { return 3; }
    if (it.info.role == role::loss) { return 0; }
    if (it.info.role == role::metric) { return 1; }
    bool const number = it.has_number || (it.info.shape.rank == 0 && it.info.type != dtype::none);
    series::bucket const all = it.any_mode().value.whole();
    bool const varies = all.bad > 0 || all.most > all.least;
    constexpr role drawn[] = {role::other, role::optimizer, role::hyperparameter, role::timing, role::system};
    bool const is_drawn = std::find(std::begin(drawn), std::end(drawn), it.info.role) != std::end(drawn);
    return is_drawn && number && varies ? 2 : 3;
}

std::pair<std::string, std::string> title_of(std::string const& name) {
    reported_metric const it = reported_metric_of(name);
    if (!it || it.set.empty() || guess_role(name) == role::loss) { return {name, {}}; }
    return {std::string{it.metric}, std::string{it.set}};
}

// One curve for each of several workers: a colour for each, dashed outside training, thick if the worker is marked.
static void add_worker_lines(run_story const& story, tensor_story const& tensor, curve_group& into) {
    for (worker_curves const& each : tensor.workers) {
        worker_look const look = look_of(story, each.worker);
        for (mode const which : {mode::train, mode::eval, mode::predict}) {
            series const& data = each.value[index_of(which)];
            if (data.empty()) { continue; }
            bool const trains = which == mode::train;
            line one{&data, look.label + (trains ? "" : fmt::format(", {}", name_of(which))), look.colour};
            one.dash = trains ? look.dash : 1;
            if (trains) { one.end = fmt::format("{}", each.worker); }
            one.strong = look.marked;
            into.lines.push_back(one);
        }
    }
}

// One curve for each mode. Those of several runs have a colour for each run, and are dashed outside training.
static void add_mode_lines(run_story const& story, tensor_story const& tensor, std::size_t number, bool several_runs,
                           std::string const& label, curve_group& into) {
    bool const only_one = modes_with_values(tensor) == 1;
    for (mode const which : {mode::train, mode::eval, mode::predict}) {
        series const& data = tensor.modes[index_of(which)].value;
        if (data.empty()) { continue; }
        bool const trains = which == mode::train;
        std::string text = label.empty() && !(only_one && trains) ? std::string{name_of(which)} : label;
        if (several_runs) { text = story.name + (text.empty() ? "" : ", " + text); }
        std::size_t const colour = several_runs ? number : into.lines.size();
        into.lines.push_back({&data, text, static_cast<unsigned>(colour % 6), several_runs && !trains ? 1U : 0U});
    }
}

// Adds the tensors of one kind.
static void add_lines(run_story const& story, int kind, std::size_t number, bool several_runs,
                      std::vector<curve_group>& groups) {
    for (tensor_story const& each : story.tensors) {
        if (kind_of_curve(each) != kind) { continue; }
        auto const title = title_of(each.name);
        auto group =
            std::find_if(groups.begin(), groups.end(), [&](curve_group const& it) { return it.title == title.first; });
        if (group == groups.end()) { group = groups.insert(groups.end(), {title.first, {}}); }
        if (!several_runs && !each.workers.empty()) {
            add_worker_lines(story, each, *group);
        } else {
            add_mode_lines(story, each, number, several_runs, title.second, *group);
        }
    }
}

// The last value; the largest number if that is not finite.
[[nodiscard]] static double end_of(series const& data) {
    return data.ends_bad() ? (std::numeric_limits<double>::max)() : data.last_value().value_or(0);
}

// One chart for so many runs that colours alone do not distinguish them. Runs that are adjacent at the end have
// different colours, each cycle of colours has its own dash pattern, and the lines' ends are numbered.
[[nodiscard]] static std::string draw_many(std::vector<run_story> const& runs, std::string const& name, mode which) {
    constexpr std::size_t colours = 6, columns = 96, ends_named = 12;
    struct curve {
        series data{};
        std::string label{};
    };
    std::vector<curve> curves;
    for (run_story const& run : runs) {
        for (tensor_story const& each : run.tensors) {
            series const& data = each.modes[index_of(which)].value;
            if (each.name != name || data.empty()) { continue; }
            curves.push_back({data, run.name});
            while (curves.back().data.buckets().size() > columns) {
                curves.back().data.coarsen(curves.back().data.shift() + 1);
            }
        }
    }
    std::sort(curves.begin(), curves.end(), [](curve const& a, curve const& b) {
        double const end_a = end_of(a.data), end_b = end_of(b.data);
        return end_a != end_b ? end_a > end_b : a.label < b.label;
    });
    chart picture;
    picture.title = fmt::format("{}, {}", name, name_of(which));
    picture.note = "numbered from the one that ends highest to the lowest";
    if (curves.size() > 2 * ends_named) {
        picture.note += fmt::format(", {} between them unnamed", curves.size() - 2 * ends_named);
    }
    for (std::size_t i = 0; i < curves.size(); ++i) {
        line one{&curves[i].data, fmt::format("{} {}", i + 1, curves[i].label), static_cast<unsigned>(i % colours)};
        one.dash = static_cast<unsigned>(i / colours);
        one.end = fmt::format("{}", i + 1);
        one.band = false;
        one.named = i < ends_named || i + ends_named >= curves.size();
        picture.lines.push_back(one);
    }
    return draw(picture);
}

[[nodiscard]] static section curves_of_many(std::vector<run_story> const& runs) {
    constexpr std::size_t most = 12;
    std::vector<std::pair<std::string, mode>> wanted;
    for (mode const which : {mode::eval, mode::train, mode::predict}) {
        for (int const kind : {0, 1}) {
            for (run_story const& run : runs) {
                for (tensor_story const& each : run.tensors) {
                    std::pair const one{each.name, which};
                    bool const drawn = kind_of_curve(each) == kind && !each.modes[index_of(which)].value.empty();
                    if (drawn && std::find(wanted.begin(), wanted.end(), one) == wanted.end()) {
                        wanted.push_back(one);
                    }
                }
            }
        }
    }
    std::string figures, others;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        auto const& [name, which] = wanted[i];
        if (i < most) { figures += draw_many(runs, name, which); }
        if (i >= most) { others += fmt::format("{}{} in {}", i == most ? "" : ", ", name, name_of(which)); }
    }
    std::string body = grid_of(figures);
    if (!others.empty()) { body += paragraph(fmt::format("Recorded and not drawn: {}.", others.substr(0, 2000))); }
    if (!figures.empty()) {
        body += "<p class=\"note\">Lines are means of neighbouring steps; a line that ends early is of a run that did. "
                "Values of eval stand at the train step before them.</p>\n";
    }
    return {"curves", "Losses and metrics", body};
}

}  // namespace spotter::inline SPOTTER_ABI::html::detail

namespace spotter::inline SPOTTER_ABI::html {

section curves_section(std::vector<run_story> const& runs) {
    if (runs.size() > most_side_by_side) { return detail::curves_of_many(runs); }
    constexpr std::size_t most = 24;
    std::vector<detail::curve_group> groups;
    for (int const kind : {0, 1, 2}) {
        for (std::size_t i = 0; i < runs.size(); ++i) { detail::add_lines(runs[i], kind, i, runs.size() > 1, groups); }
    }
    std::string figures, others;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (i >= most) {
            others += (i == most ? "" : ", ") + groups[i].title;
            continue;
        }
        chart picture{.title = groups[i].title, .lines = groups[i].lines};
        if (runs.size() == 1) { picture.marks = marks_of(runs.front()); }
        figures += groups.size() == 1 ? draw_alone(picture) : draw(picture);
    }
    std::string body = groups.size() == 1 ? figures : grid_of(figures);
    if (runs.size() == 1) { body += detail::workers_left_out(runs.front()); }
    if (!others.empty()) { body += paragraph(fmt::format("Recorded and not drawn: {}.", others.substr(0, 2000))); }
    if (!figures.empty()) {
        body += "<p class=\"note\">Lines are means of neighbouring steps, the band around them goes from the smallest "
                "to the largest. Values of eval stand at the train step before them.</p>\n";
    }
    return {"curves", "Losses and metrics", body};
}

}  // namespace spotter::inline SPOTTER_ABI::html
