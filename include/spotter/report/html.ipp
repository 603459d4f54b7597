// SPDX-License-Identifier: Apache-2.0
// The bodies of html.hpp.
#pragma once

#include <spotter/report/html.hpp>
#include <spotter/report/html/curves.hpp>
#include <spotter/report/html/differences.hpp>
#include <spotter/report/html/findings.hpp>
#include <spotter/report/html/layers.hpp>
#include <spotter/report/html/run_reader.hpp>
#include <spotter/report/html/saliency.hpp>
#include <spotter/report/html/style.hpp>
#include <spotter/report/html/timing.hpp>
#include <spotter/report/html/trees.hpp>

namespace spotter::inline SPOTTER_ABI::html::detail {

SPOTTER_BODY void page::add(section const& it, std::string const& id_end, std::string const& of) {
    if (it.body.empty()) { return; }
    navigation += fmt::format("<a href=\"#{}{}\">{}{}</a>\n", it.id, id_end, it.title, escape(of));
    body +=
        fmt::format("<section id=\"{}{}\"><h2>{}{}</h2>\n{}</section>\n", it.id, id_end, it.title, escape(of), it.body);
}

// What is about one run alone.
SPOTTER_BODY void add_run(run_story const& story, value_source& from, std::string const& id_end, std::string const& of,
                          page& into) {
    into.add(layers_section(story), id_end, of);
    into.add(histograms_section(story), id_end, of);
    into.add(activations_section(story), id_end, of);
    into.add(classes_section(story, judge_samples(story, from)), id_end, of);
    into.add(saliency_section(story, from), id_end, of);
    into.add(trees_section(story, from), id_end, of);
    into.add(timing_section(story), id_end, of);
    if (from.spent()) {
        into.body += paragraph("More values were recorded than a page reads: some pictures are of fewer steps.");
    }
}

}  // namespace spotter::inline SPOTTER_ABI::html::detail

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY std::string to_html(std::span<trial const> runs) {
    using namespace html;
    std::vector<run_story> stories;
    std::vector<value_source> values;
    for (trial const& each : runs) {
        stories.push_back(read_story(each));
        values.emplace_back(each);
        read_values(stories.back(), values.back());
    }
    html::detail::page page;
    std::string heads, title;
    for (std::size_t i = 0; i < stories.size(); ++i) {
        heads += head_of(stories[i]);
        title += (i == 0 ? "" : ", ") + stories[i].name;
    }
    bool const several = stories.size() > 1;
    auto const whose = [&](std::size_t i) { return several ? " of " + stories[i].name : std::string{}; };
    auto const id_end = [&](std::size_t i) { return several ? fmt::format("-{}", i + 1) : std::string{}; };
    page.add(differences_section(stories));
    for (std::size_t i = 0; i < stories.size(); ++i) { page.add(findings_section(stories[i]), id_end(i), whose(i)); }
    page.add(curves_section(stories));
    for (std::size_t i = 0; i < stories.size(); ++i) {
        html::detail::add_run(stories[i], values[i], id_end(i), whose(i), page);
    }
    // The policy lets a browser fetch nothing, whatever a name in the record might say; the empty icon keeps it from asking for one.
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src "
        "data:\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{} · spotter</title>\n"
        "<link rel=\"icon\" href=\"data:,\">\n<style>{}</style></head>\n<body>\n<header "
        "class=\"heads\">\n{}</header>\n<nav>\n{}</nav>\n<main>\n{}</main>\n"
        "<footer>Made by spotter from what was recorded.</footer>\n</body></html>\n",
        escape(title), style, heads, page.navigation, page.body);
}

}  // namespace spotter::inline SPOTTER_ABI
