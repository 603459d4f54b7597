// SPDX-License-Identifier: Apache-2.0
// Workbench: the bodies of spotter/workbench/page.hpp.

#include "page/page.hpp"

#include "page/attention.hpp"
#include "page/classes.hpp"
#include "page/curves.hpp"
#include "page/differences.hpp"
#include "page/embeddings.hpp"
#include "page/examined.hpp"
#include "page/findings.hpp"
#include "page/layers.hpp"
#include "page/residuals.hpp"
#include "page/run_reader.hpp"
#include "page/runs.hpp"
#include "page/saliency.hpp"
#include "page/style.hpp"
#include "page/timing.hpp"
#include "page/trees.hpp"
#include "page/workers.hpp"

#include <spotter/workbench/page.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <deque>

namespace spotter::inline SPOTTER_ABI::html::detail {

void page::add(section const& it, std::string const& id_end, std::string const& of) {
    if (it.body.empty()) { return; }
    std::string const id = it.id + id_end;
    for (std::string const& each : {it.id, id}) {
        if (std::find(ids.begin(), ids.end(), each) == ids.end()) { ids.push_back(each); }
    }
    bool const shown = wanted.empty() || std::any_of(wanted.begin(), wanted.end(), [&](std::string const& each) {
                           return each == it.id || each == id;
                       });
    if (!shown) { return; }
    navigation += fmt::format("<a href=\"#{}\">{}{}</a>\n", id, it.title, escape(of));
    body += fmt::format("<section id=\"{}\"><h2>{}{}</h2>\n{}</section>\n", id, it.title, escape(of), it.body);
}

void page::note(std::string_view text) {
    if (wanted.empty()) { body += paragraph(text); }
}

// The sections of a single run.
static void add_run(run_story const& story, value_source& from, std::string const& id_end, std::string const& of,
                    page& into) {
    into.add(layers_section(story), id_end, of);
    into.add(histograms_section(story), id_end, of);
    into.add(activations_section(story), id_end, of);
    into.add(classes_section(story, judge_samples(story, from)), id_end, of);
    into.add(residuals_section(story, from), id_end, of);
    into.add(saliency_section(story, from), id_end, of);
    into.add(attention_section(story, from), id_end, of);
    into.add(embeddings_section(story, from), id_end, of);
    into.add(trees_section(story, from), id_end, of);
    into.add(timing_section(story), id_end, of);
    if (from.spent()) { into.note("More values were recorded than a page reads: some pictures show fewer steps."); }
}

// A few runs, each with all its sections.
static void add_few(std::vector<run_story>& stories, page& into) {
    std::deque<value_source> values;  // a deque, since elements must not move
    for (run_story& each : stories) {
        values.emplace_back(*each.run);
        read_values(each, values.back());
    }
    bool const several = stories.size() > 1;
    auto const whose = [&](std::size_t i) { return several ? " of " + stories[i].name : std::string{}; };
    auto const id_end = [&](std::size_t i) { return several ? fmt::format("-{}", i + 1) : std::string{}; };
    into.add(runs_section(stories));
    into.add(hyperparameters_section(stories));
    into.add(differences_section(stories));
    // With several runs the curves come first, for comparison; with one run the findings.
    if (several) { into.add(curves_section(stories)); }
    for (std::size_t i = 0; i < stories.size(); ++i) { into.add(findings_section(stories[i]), id_end(i), whose(i)); }
    for (std::size_t i = 0; i < stories.size(); ++i) { into.add(examined_section(stories[i]), id_end(i), whose(i)); }
    for (std::size_t i = 0; i < stories.size(); ++i) { into.add(workers_section(stories[i]), id_end(i), whose(i)); }
    if (!several) { into.add(curves_section(stories)); }
    for (std::size_t i = 0; i < stories.size(); ++i) { add_run(stories[i], values[i], id_end(i), whose(i), into); }
}

static void add_many(std::vector<run_story> const& stories, page& into) {
    into.add(runs_section(stories));
    into.add(curves_section(stories));
    into.add(findings_of_many(stories));
}

// Draws the page around the sections; `into` has the wanted ones.
[[nodiscard]] static std::string draw_page(std::span<trial const> runs, std::span<section const> further,
                                           std::span<judgement const> anew, page& into) {
    std::vector<run_story> stories;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        stories.push_back(read_story(runs[i], i < anew.size() ? &anew[i] : nullptr));
    }
    bool const many = stories.size() > most_side_by_side;
    many ? add_many(stories, into) : add_few(stories, into);
    for (section const& each : further) { into.add(each); }
    std::string title = many ? fmt::format("{} runs", stories.size()) : std::string{};
    std::string heads = many ? head_of_many(stories) : std::string{};
    for (std::size_t i = 0; i < stories.size() && !many; ++i) {
        heads += head_of(stories[i]);
        title += (i == 0 ? "" : ", ") + stories[i].name;
    }
    std::string const above =
        fmt::format("<header class=\"heads\">\n{}</header>\n<nav>\n{}</nav>\n", heads, into.navigation);
    // Works without a script: checkboxes select what the style sheet shows.
    bool const smooths = into.body.find("class=\"line smooth") != std::string::npos;
    std::string_view const smooth_switch = smooths ? "<input type=\"checkbox\" id=\"smooth\"/><label for=\"smooth\" "
                                                     "class=\"switch\"> smooth the curves</label>\n"
                                                   : "";
    // The policy forbids the browser to load anything, whatever names the record has; the empty icon prevents a request
    // for one.
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src "
        "data:\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{} · spotter</title>\n"
        "<link rel=\"icon\" "
        "href=\"data:,\">\n<style>{}</style></head>\n<body>\n{}{}<main>\n{}</main>\n{}</body></html>\n",
        escape(title), style, into.wanted.empty() ? above : "", smooth_switch, into.body,
        into.wanted.empty() ? "<footer>Made by spotter from what was recorded.</footer>\n" : "");
}

}  // namespace spotter::inline SPOTTER_ABI::html::detail

namespace spotter::inline SPOTTER_ABI {

std::span<std::string_view const> html::section_ids() noexcept {
    static constexpr std::string_view all[] = {"runs",       "hyperparameters", "differences", "findings",   "workers",
                                               "curves",     "layers",          "activations", "histograms", "trees",
                                               "embeddings", "attention",       "classes",     "residuals",  "saliency",
                                               "times",      "self-test"};
    return all;
}

std::string to_html(std::span<trial const> runs) {
    html::detail::page page;
    return html::detail::draw_page(runs, {}, {}, page);
}

std::string to_html(trial const& run) { return to_html(std::span{&run, 1}); }

result<std::string> to_html(std::span<trial const> runs, std::span<std::string const> sections,
                            std::span<html::section const> further, std::span<html::judgement const> anew) {
    html::detail::page page{sections, {}, {}, {}};
    std::string text = html::detail::draw_page(runs, further, anew, page);
    for (std::string const& each : sections) {
        if (std::find(page.ids.begin(), page.ids.end(), each) != page.ids.end()) { continue; }
        error why{errc::no_such_name, "the page has no section \""};
        why.what << each.substr(0, 40) << "\"; there are";
        for (std::string const& id : page.ids) {
            if (id.find('-') == id.npos) { why.what << ' ' << id; }
        }
        return why;
    }
    return text;
}

}  // namespace spotter::inline SPOTTER_ABI
