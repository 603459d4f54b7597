// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the bodies of findings.hpp.
#include "page/findings.hpp"

#include "page/cards.hpp"

#include <spotter/report/summary.hpp>
#include <spotter/rule/inequality.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI::html::detail {

[[nodiscard]] static std::string finding_in_words(evidence const& of) {
    finding const& it = of.what.strongest;
    std::string text =
        fmt::format("<div><h3><span class=\"tag\">{0}</span> {1}</h3>\n", name_of(it.severity), escape(it.rule));
    text += "<p class=\"what\">";
    if (!it.reason.empty()) { text += escape(it.reason) + ' '; }
    text += fmt::format("at <b>{}</b>", step_text(it.step));
    if (!it.tensor.empty()) { text += " in " + code(it.tensor); }
    if (it.others > 0) { text += fmt::format(" and {}", plural(it.others, "more tensor")); }
    if (it.worker > 0) { text += fmt::format(", worker {}", it.worker); }
    text += "</p>\n";
    if (!it.measure.empty()) {
        std::string measured = number_text(it.measured), threshold = number_text(it.threshold);
        if (it.how != relation::none && measured == threshold && it.measured != it.threshold) {
            inequality const numbers = inequality_of(it.measured, it.threshold);
            measured = numbers.measured.view(), threshold = numbers.threshold.view();
        }
        text += fmt::format("<p class=\"measure\">{} <b>{}</b>", escape(it.measure), measured);
        if (it.how != relation::none) { text += fmt::format(" {} {}", escape(symbol_of(it.how)), threshold); }
        text += "</p>\n";
    }
    if (!it.detail.empty()) { text += paragraph(it.detail.view()); }
    if (of.what.times > 1) { text += paragraph(spotter::detail::describe_times(of.what)); }
    if (it.decision != decision::proceed) {
        text += fmt::format("<p>It asked the loop to {}.</p>\n",
                            it.decision == decision::stop ? "stop" : "skip the update");
    }
    if (!it.remedy.empty()) { text += fmt::format("<p class=\"remedy\">{}</p>\n", escape(it.remedy)); }
    return text + "</div>";
}

// One finding: its text with its drawing beside it, and `more` below both.
[[nodiscard]] static std::string finding_text(evidence const& of, std::string const& drawn, std::string const& more) {
    return fmt::format("<article class=\"finding {}\">{}<div>{}</div>{}</article>\n",
                       name_of(of.what.strongest.severity), finding_in_words(of), drawn, more);
}

// The collapsed part of a card below its head; `drawn` returns the drawing of a part.
template <class Drawn>
[[nodiscard]] static std::string behind_head(card const& it, Drawn const& drawn) {
    if (it.behind.empty()) { return {}; }
    constexpr std::size_t most_named = 4;
    std::vector<std::string_view> rules;
    std::string inner, names;
    for (card::part const& each : it.behind) {
        inner += finding_text(*each.what, drawn(each), {});
        std::string_view const rule = each.what->what.strongest.rule;
        if (std::find(rules.begin(), rules.end(), rule) == rules.end()) { rules.push_back(rule); }
    }
    for (std::size_t i = 0; i < rules.size() && i < most_named; ++i) {
        names += fmt::format("{}<b>{}</b>", i == 0 ? "" : ", ", escape(rules[i]));
    }
    if (rules.size() > most_named) { names += fmt::format(" and {}", plural(rules.size() - most_named, "more rule")); }
    return fmt::format("<details class=\"behind\"><summary>{} with it: {}</summary>\n{}</details>",
                       plural(it.behind.size(), "further finding"), names, inner);
}

// With charts. A finding whose chart would equal the head's is a mark in that chart.
[[nodiscard]] static std::string draw_card(card const& it) {
    evidence_chart const& its = it.head.drawn;
    chart picture = its.picture;
    for (card::part const& each : it.behind) {
        if (!holds(its, each.drawn)) { continue; }
        picture.marks.push_back(each.drawn.picture.marks.front());
        if (!picture.threshold) { picture.threshold = each.drawn.picture.threshold; }
    }
    auto const drawn_of = [](card::part const& part, chart const& with) {
        return draw(with) + (part.drawn.whole ? std::string{} : draw_reported(*part.what));
    };
    return finding_text(*it.head.what, drawn_of(it.head, picture), behind_head(it, [&](card::part const& each) {
        return drawn_of(each, holds(its, each.drawn) ? chart{} : each.drawn.picture);
    }));
}

// The `most` strongest, by time. A story has its findings strongest first.
[[nodiscard]] static std::vector<card> strongest_of(std::vector<card> all, std::size_t most) {
    if (all.size() <= most) { return all; }
    std::vector<evidence const*> heads;
    for (card const& each : all) { heads.push_back(each.head.what); }
    std::sort(heads.begin(), heads.end());
    std::erase_if(all, [&](card const& it) { return it.head.what >= heads[most]; });
    return all;
}

std::string coverage_of(std::vector<recorded_coverage> const& all) {
    if (all.empty()) { return {}; }
    std::string silent, rows;
    std::size_t count = 0;
    std::vector<recorded_coverage> const rules = spotter::detail::distinct_rules(all);
    for (recorded_coverage const& each : rules) {
        std::string const whose = each.workers > 1  ? fmt::format(" in {} workers", each.workers)
                                  : each.worker > 0 ? fmt::format(" in worker {}", each.worker)
                                                    : std::string{};
        if (!each.reason.empty()) {
            silent += fmt::format("<li><b>{}</b>{}: {}</li>\n", escape(each.rule), whose, escape(each.reason));
            ++count;
        }
        rows += fmt::format("<tr><th>{}{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n", escape(each.rule),
                            whose, each.matched, each.judged, each.undecided, each.fired);
    }
    std::string text;
    if (count > 0) {
        text += fmt::format(
            "<details{}><summary>{} could not run, or not on all that they should</summary><ul>\n{}</ul></details>\n",
            count <= 6 ? " open" : "", plural(count, "rule"), silent);
    }
    return text +
           fmt::format("<details><summary>What each of {} judged</summary><div class=\"wide\"><table "
                       "class=\"plain\"><thead><tr>"
                       "<th>rule</th><td>tensors</td><td>judged</td><td>undecided</td><td>fired</td></tr></thead>"
                       "<tbody>\n{}</tbody></table></div></details>\n",
                       plural(rules.size(), "rule"), rows);
}

}  // namespace spotter::inline SPOTTER_ABI::html::detail

namespace spotter::inline SPOTTER_ABI::html {

section findings_section(run_story const& story) {
    constexpr std::size_t most = 30;
    trial const& run = *story.run;
    std::string body;
    std::vector<card> const shown = detail::strongest_of(cards_of(story), most);
    if (shown.size() > 1) {
        body +=
            "<p class=\"note\">In the order of time: the first finding is the likeliest cause of what follows.</p>\n";
    }
    std::size_t listed = 0;
    for (card const& each : shown) {
        body += detail::draw_card(each);
        listed += 1 + each.behind.size();
    }
    if (story.findings.size() > listed) {
        body += fmt::format("<p>and {} that are not shown: <code>spotter info</code> lists all.</p>\n",
                            plural(story.findings.size() - listed, "further finding"));
    }
    if (body.empty()) { body = paragraph(verdict(story)); }
    bool const ended = run.status() == run_status::finished || run.status() == run_status::failed;
    if (!ended && story.anew == nullptr) {
        body += paragraph("Whether the rules could judge is known at the end of a run.");
    }
    return {"findings", "Findings", body + detail::coverage_of(story.coverages())};
}

section findings_of_many(std::vector<run_story> const& runs) {
    constexpr std::size_t most = 3;
    std::string body;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        run_story const& story = runs[i];
        body += fmt::format("<h3 id=\"findings-{}\">{}</h3>\n{}{}", i + 1, escape(story.name), detail::notes_of(story),
                            paragraph(verdict(story)));
        for (card const& each : detail::strongest_of(cards_of(story), most)) {
            body += detail::finding_text(*each.head.what, {},
                                         detail::behind_head(each, [](card::part const&) { return std::string{}; }));
        }
    }
    return {"findings", "Findings", body};
}

}  // namespace spotter::inline SPOTTER_ABI::html
