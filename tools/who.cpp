// SPDX-License-Identifier: Apache-2.0
// Command line, `who`: after a hang or a kill, finds the responsible rank.
#include "folders.hpp"
#include "outcome.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "verbs.hpp"

#include <spotter/workbench/ranks.hpp>

namespace spotter_tool {

using namespace spotter;

int who(run_and_json const& wanted) {
    std::string const path = tidy(wanted.path);
    std::vector<recording> all;
    if (error const why = find_recordings(path, all)) { return fail(why, wanted.json, "who", path); }
    auto const run = open_trial(path);
    if (!run) { return fail(run.error(), wanted.json, "who", path); }
    progress bar{"who", {bytes_of(all)}};
    counted_reading const counting{*run, bar, reading::all};
    outcome end{"who"};
    json const losses = end.look_at(*run);
    ranks_report const report = ranks_of(*run);
    if (!report.sentences.empty()) { end.note(found); }
    if (!wanted.json) {
        say(plain_lines(describe(report)));
        return end.code();
    }
    json document = document_of("who", path);
    document["loss"] = losses;
    document["sentences"] = report.sentences;
    document["never_came"] = report.never_came;
    document["ranks"] = json_list(report.ranks, [](rank_state const& each) -> json {
        return {{"worker", each.worker},
                {"status", std::string{name_of(each.status)}},
                {"why", each.why},
                {"last", each.has_closed ? json(step_json(each.last)) : json()},
                {"closed_at", each.has_closed ? json(number(each.closed_at)) : json()},
                {"open", each.is_open ? json(step_json(each.open)) : json()},
                {"reached", each.reached},
                {"section", each.section},
                {"in_section", number(each.in_section)},
                {"silent", number(each.silent)},
                {"step_seconds", number(each.step_seconds)},
                {"relative", number(each.relative)},
                {"own", number(each.own)}};
    });
    say_document(document);
    return end.code();
}

}  // namespace spotter_tool
