// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the bodies of findings.hpp.
#include "page/findings.hpp"

#include <spotter/rule/builtin/tree_depth.hpp>
#include <spotter/rule/inequality.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace spotter::inline SPOTTER_ABI::html::detail {

[[nodiscard]] static measurement read_change(evidence::moment const& it, statistic) {
    bool const known = has(it.stats.has, terms::change) && it.stats.has_previous && it.stats.previous_sum_squares > 0;
    return known ? measurement{std::sqrt(it.stats.delta_sum_squares / it.stats.previous_sum_squares), true}
                 : measurement{};
}

[[nodiscard]] static measurement read_unchanged(evidence::moment const& it, statistic) {
    bool const known = has(it.stats.has, terms::change) && it.stats.has_previous && it.stats.count > 0;
    return known ? measurement{1 - static_cast<double>(it.stats.changed) / static_cast<double>(it.stats.count), true}
                 : measurement{};
}

[[nodiscard]] static measurement read_depth(evidence::moment const& it, statistic) {
    return tree_depth::depth_of(it.stats);
}

std::vector<reading> readings_for(finding const& it) {
    std::vector<reading> all;
    for (int id = 0; id <= static_cast<int>(statistic_id::neg_inf); ++id) {
        for (bool const abs : {false, true}) {
            statistic const each{static_cast<statistic_id>(id), abs};
            if (each.name() == it.measure) { all.push_back({std::string{each.name()}, &read_statistic, each, true}); }
        }
    }
    if (it.measure.starts_with("non-finite")) {
        all.push_back({"non-finite elements", &read_statistic, nonfinite, true});
    }
    if (it.measure == "depth") { all.push_back({"depth", &read_depth, mean, true}); }
    if (it.measure == "update ratio") { all.push_back({"update ratio", &read_change, mean, true}); }
    if (it.measure == "share of unchanged elements") {
        all.push_back({"share of unchanged elements", &read_unchanged, mean, true});
    }
    if (it.measure.find("units") != it.measure.npos) {
        all.push_back({"share of idle units", &read_idle, mean, false});
    }
    for (statistic const each :
         std::initializer_list<statistic>{mean_abs, l2, of_abs(maximum), stddev, mean, zero_fraction, nonfinite}) {
        all.push_back({std::string{each.name()}, &read_statistic, each, false});
    }
    return all;
}

std::vector<reading> readings_for(evidence const& of) {
    bool const scalar =
        std::all_of(of.moments.begin(), of.moments.end(), [](auto const& each) { return each.stats.count == 1; });
    finding const& it = of.what.strongest;
    if (!scalar) { return readings_for(it); }
    std::vector<reading> all;
    bool const is_value = it.measure == "mean" || it.measure == "minimum" || it.measure == "maximum";
    if (!is_value && !it.measure.starts_with("non-finite")) {
        for (reading const& each : readings_for(it)) {
            if (each.exact && each.which != nonfinite) { all.push_back(each); }
        }
    }
    all.push_back({"value", &read_statistic, mean, is_value});
    all.push_back({"non-finite elements", &read_statistic, nonfinite, false});
    return all;
}

// What a rule measured, as often as it was told, where it cannot be drawn from what was observed.
[[nodiscard]] static std::string draw_told(evidence const& of) {
    finding const& it = of.what.strongest;
    series::bucket const all = of.told.whole();
    if (all.count < 2 || it.measure.starts_with("non-finite")) { return {}; }
    chart picture;
    picture.title = it.tensor.empty() ? std::string{it.measure} : fmt::format("{} of {}", it.measure, it.tensor);
    picture.note = "as the rule measured it, each time that it was reported";
    picture.lines.push_back({&of.told, {}, 0, false});
    picture.step_name = fmt::format("{} step", name_of(it.step.mode));
    if (it.how != relation::none) { picture.threshold = it.threshold; }
    return draw(picture);
}

[[nodiscard]] static std::string draw_evidence(evidence const& of) {
    finding const& it = of.what.strongest;
    if (of.moments.size() < 2) { return draw_told(of); }
    bool const is_share = it.measure.find("share") != it.measure.npos;
    for (reading const& each : readings_for(of)) {
        // Seconds say nothing of a share.
        if (is_share && !each.exact && each.name == "value") { continue; }
        series data;
        std::uint64_t known = 0;
        for (evidence::moment const& here : of.moments) {
            measurement const value = each.of(here, each.which);
            if (value.known) { data.add(here.step, value.value), ++known; }
            if (!value.known && here.stats.nonfinite() > 0) { data.add_bad(here.step); }
        }
        bool const says_nothing = !each.exact && each.which == nonfinite && !(data.whole().most > 0);
        if (known < 2 || 2 * known < of.moments.size() || says_nothing) { continue; }
        chart picture;
        picture.title = fmt::format("{} of {}", each.name, it.tensor);
        picture.lines.push_back({&data, {}, 0, false});
        picture.marks.push_back({it.step.index, it.severity, fmt::format("{} at {}", it.rule, step_text(it.step))});
        picture.step_name = fmt::format("{} step", name_of(it.step.mode));
        if (each.exact && it.how != relation::none) { picture.threshold = it.threshold; }
        return draw(picture) + (each.exact ? std::string{} : draw_told(of));
    }
    return draw_told(of);
}

[[nodiscard]] static std::string finding_card(evidence const& of, std::string const& drawn) {
    finding const& it = of.what.strongest;
    std::string text = fmt::format("<article class=\"finding {0}\"><div><h3><span class=\"tag\">{0}</span> {1}</h3>\n",
                                   name_of(it.severity), escape(it.rule));
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
    return text + "</div><div>" + drawn + "</div></article>\n";
}

std::string coverage_of(std::vector<recorded_coverage> const& all) {
    if (all.empty()) { return {}; }
    std::string silent, rows;
    std::size_t count = 0;
    for (recorded_coverage const& each : all) {
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
                       plural(all.size(), "rule"), rows);
}

}  // namespace spotter::inline SPOTTER_ABI::html::detail

namespace spotter::inline SPOTTER_ABI::html {

section findings_section(run_story const& story) {
    constexpr std::size_t most = 30;
    trial const& run = *story.run;
    std::string body;
    // The strongest that there is room for, in the order in which they were first told.
    std::vector<evidence const*> shown;
    for (std::size_t i = 0; i < story.findings.size() && i < most; ++i) { shown.push_back(&story.findings[i]); }
    std::sort(shown.begin(), shown.end(), [](auto const* a, auto const* b) { return a->order < b->order; });
    if (shown.size() > 1) {
        body +=
            "<p class=\"note\">In the order of time: the first finding is the likeliest cause of what follows.</p>\n";
    }
    for (evidence const* const each : shown) { body += detail::finding_card(*each, detail::draw_evidence(*each)); }
    if (story.findings.size() > most) {
        body += fmt::format("<p>and {} that are not shown: <code>spotter info</code> lists all.</p>\n",
                            plural(story.findings.size() - most, "further finding"));
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
        for (std::size_t k = 0; k < story.findings.size() && k < most; ++k) {
            body += detail::finding_card(story.findings[k], {});
        }
    }
    return {"findings", "Findings", body};
}

}  // namespace spotter::inline SPOTTER_ABI::html
