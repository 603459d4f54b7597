// SPDX-License-Identifier: Apache-2.0
// Command line, `check --self-test`: which faults the rules would have found if the run had had them.
#include "self_test.hpp"
#include "folders.hpp"
#include "open_step.hpp"
#include "outcome.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "rules_argument.hpp"
#include "verbs.hpp"

#include <algorithm>

namespace spotter_tool {

using namespace spotter;

namespace {

[[nodiscard]] std::string when_text(fault_report const& it) {
    if (it.step.mode != mode::train) { return fmt::format("at {}", step_text(it.step)); }
    return it.after == 0 ? std::string{"at once"} : "after " + plural(it.after, "step");
}
[[nodiscard]] std::string reports_text(self_test_result const& it) {
    std::string text;
    for (fault_report const& each : it.reports) {
        if (it.noticed() && each.severity < severity::warning) { continue; }
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", each.rule, when_text(each));
    }
    return text;
}
[[nodiscard]] std::string silent_text(self_test_result const& it) {
    std::string text;
    for (silent_rule const& each : it.silent) {
        text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", each.rule, each.why);
    }
    return text;
}
[[nodiscard]] json to_json(self_test_result const& it) {
    json one = {
        {"fault", std::string{it.fault.name}},
        {"what", std::string{it.fault.what}},
        {"verdict", std::string{self_test_verdict(it)}},
        {"from", step_json(it.from)},
        {"tensors", it.tensors},
        {"tensor", it.tensor},
        {"needed", fmt::format("{}{}{}", it.fault.needed, it.fault.kept.empty() ? "" : ", with their ", it.fault.kept)},
        {"unseen", it.unseen}};
    one["told"] = json_list(it.reports, [](fault_report const& each) -> json {
        return {{"rule", each.rule},
                {"tensor", each.tensor},
                {"severity", std::string{name_of(each.severity)}},
                {"step", step_json(each.step)},
                {"after", each.after}};
    });
    one["silent"] =
        json_list(it.silent, [](silent_rule const& each) -> json { return {{"rule", each.rule}, {"why", each.why}}; });
    return one;
}

}  // namespace

std::uint64_t passes_of_self_test() { return 1 + planted_faults().size(); }

std::string_view self_test_verdict(self_test_result const& it) noexcept {
    if (!it.planted()) { return "unseen"; }
    return it.noticed() ? "noticed" : it.reports.empty() ? "missed" : "noted";
}

std::string why_text(self_test_result const& it) {
    bool const no_rule = std::all_of(it.silent.begin(), it.silent.end(),
                                     [](silent_rule const& each) { return each.why == "not among the rules"; });
    if (!it.planted() && !no_rule) { return it.unseen; }
    if (it.noticed()) { return reports_text(it); }
    return it.reports.empty() ? silent_text(it) : fmt::format("a note only, {}", reports_text(it));
}

html::section self_test_section(std::vector<self_test_result> const& all) {
    if (all.empty()) { return {}; }
    std::string rows, noticed;
    for (self_test_result const& each : all) {
        if (each.noticed()) {
            noticed += fmt::format("{}{} ({})", noticed.empty() ? "" : "; ", each.fault.what, reports_text(each));
            continue;
        }
        rows += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n", self_test_verdict(each),
                            html::escape(each.fault.what), html::escape(why_text(each)));
    }
    std::string body = html::paragraph("Faults were planted into what the record says, one at a time, and the rules "
                                       "judged it anew. These were not noticed:");
    body += rows.empty() ? html::paragraph("none.")
                         : fmt::format("<div class=\"wide\"><table "
                                       "class=\"plain\"><thead><tr><th>told</th><th>fault</th><th>why</th></tr></"
                                       "thead><tbody>\n{}</tbody></table></div>\n",
                                       rows);
    return {"self-test", "What this run would not have noticed",
            body + html::paragraph("It would have noticed: " + (noticed.empty() ? "nothing" : noticed) + ".")};
}

int self_test_runs(check_options const& wanted) {
    auto const rules = read_rules(wanted.rules);
    std::string const first = wanted.paths.front();
    if (!rules) { return fail(rules.error(), wanted.json, "check", first); }
    outcome end{"check"};
    json document = document_of("check", first);
    document["self_test"] = json::array();
    for (std::string const& each : wanted.paths) {
        std::string const path = tidy(each);
        auto const run = open_trial(path);
        if (!run) { return fail(run.error(), wanted.json, "check", path); }
        std::vector<recording> parts;
        (void)find_recordings(path, parts);
        std::optional<progress> bar{std::in_place, "check --self-test",
                                    counted{bytes_of(parts), "bytes", passes_of_self_test()}};
        std::optional<counted_reading> counting{std::in_place, *run, *bar};
        json const loss = end.look_at(*run);
        std::vector<self_test_result> const all = self_test(*run, rules_for(*run, wanted.rules, *rules));
        counting.reset();
        bar.reset();
        if (all.empty()) { end.note(not_judged); }
        json list = json::array();
        std::size_t noticed = 0, noted = 0, unseen = 0;
        std::string text;
        for (self_test_result const& one : all) {
            noticed += one.noticed() ? 1 : 0;
            noted += !one.noticed() && !one.reports.empty() ? 1 : 0;
            unseen += one.planted() ? 0 : 1;
            list.push_back(to_json(one));
            text += fmt::format("  {:<8} {:<20} {}: {}\n", self_test_verdict(one), one.fault.name, one.fault.what,
                                why_text(one));
        }
        document["self_test"].push_back({{"path", path}, {"loss", loss}, {"faults", list}});
        if (wanted.json) { continue; }
        if (all.empty()) {
            say(fmt::format("{}: too short to plant faults in: 40 train steps at least\n", plain(path)));
            continue;
        }
        say(fmt::format("{}: of {} faults {} would have been noticed, {} noted, {} missed, {} cannot be seen in what "
                        "was recorded\n{}",
                        plain(path), all.size(), noticed, noted, all.size() - noticed - noted - unseen, unseen,
                        plain_lines(text)));
    }
    if (wanted.json) { say_document(document); }
    return end.code();
}

}  // namespace spotter_tool
