// SPDX-License-Identifier: Apache-2.0
// Command line, `report`: a run, or several side by side, as one HTML page; or their table as CSV.
#include "folders.hpp"
#include "nearest.hpp"
#include "new_file.hpp"
#include "outcome.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "rules_argument.hpp"
#include "self_test.hpp"
#include "verbs.hpp"

#include <spotter/replay.hpp>
#include <spotter/report/describe.hpp>
#include <spotter/workbench/page.hpp>
#include <spotter/workbench/runs_table.hpp>

#include <deque>
#include <optional>

namespace spotter_tool {

using namespace spotter;

namespace {

[[nodiscard]] html::judgement judgement_of(replay_report const& from) {
    html::judgement made{from.findings, {}};
    for (coverage const& each : from.coverages) {
        made.coverages.push_back(
            {std::string{each.rule}, std::string{each.reason}, each.matched, each.judged, each.undecided, each.fired});
    }
    return made;
}

[[nodiscard]] result<std::string> made_of(std::span<trial const> runs, std::uint64_t bytes,
                                          report_options const& wanted) {
    std::uint64_t const passes =
        wanted.as == "csv" ? 1 : 1 + (wanted.rules.empty() ? 0 : 1) + (wanted.self_test ? passes_of_self_test() : 0);
    progress bar{"report", {bytes, "bytes", passes}};
    std::deque<counted_reading> counting;
    for (trial const& each : runs) { counting.emplace_back(each, bar); }
    if (wanted.as == "csv") { return to_csv(table_of(runs)); }
    std::vector<html::section> further;
    std::vector<replay_report> replays;  // own the texts of findings
    std::vector<html::judgement> anew;
    auto const rules = read_rules(wanted.rules);
    if (!rules) { return rules.error(); }
    if (wanted.self_test && runs.size() == 1) {
        further.push_back(self_test_section(self_test(runs.front(), rules_for(runs.front(), wanted.rules, *rules))));
    }
    if (!wanted.rules.empty()) {
        for (trial const& each : runs) { replays.push_back(replay(each, *rules)); }
        for (replay_report const& each : replays) { anew.push_back(judgement_of(each)); }
    }
    return to_html(runs, wanted.sections, further, anew);
}

// The first requested section that no page has, and the one that was probably meant.
[[nodiscard]] error unknown_section(std::vector<std::string> const& wanted) {
    std::vector<std::string> const known{html::section_ids().begin(), html::section_ids().end()};
    auto const is_known = [&](std::string const& id) {
        return std::find(known.begin(), known.end(), id) != known.end();
    };
    for (std::string const& each : wanted) {
        if (is_known(each) || is_known(each.substr(0, each.find('-')))) { continue; }
        error why{errc::bad_config, "no page has a section \""};
        why.what << std::string_view{each}.substr(0, 40) << "\": ";
        if (auto const meant = nearest(each, known)) {
            why.what << "did you mean " << *meant << "? There are ";
        } else {
            why.what << "there are ";
        }
        why.what << joined(known, " ");
        return why;
    }
    return {};
}

// Which options do not go together.
[[nodiscard]] error clash_of(report_options const& wanted, std::size_t runs, bool as_csv, bool to_output) {
    if (as_csv && !wanted.sections.empty()) {
        return {errc::bad_config, "--section is of a page, and --as csv is none"};
    }
    if (as_csv && !wanted.rules.empty()) { return {errc::bad_config, "--rules is of a page, and --as csv is none"}; }
    if (wanted.self_test && (as_csv || runs > 1)) {
        return {errc::bad_config, "--self-test is for the page of one run"};
    }
    if (to_output && wanted.json) {
        return {errc::bad_config, "what is made and --json cannot both go to standard output: give a file with -o"};
    }
    return {};
}

[[nodiscard]] error open_one(std::string const& path, std::vector<trial>& runs, std::uint64_t& bytes) {
    std::vector<recording> all;
    if (error const why = find_recordings(path, all)) { return why; }
    bytes += bytes_of(all);
    auto run = open_trial(path);
    if (run) { runs.push_back(std::move(*run)); }
    return run.error();
}

}  // namespace

int report(report_options const& wanted) {
    std::vector<trial> runs;
    std::vector<std::string> paths;
    std::uint64_t bytes = 0;
    for (std::string const& each : wanted.paths) {
        paths.push_back(tidy(each));
        if (error const why = open_one(paths.back(), runs, bytes)) {
            return fail(why, wanted.json, "report", paths.back());
        }
    }
    auto const refuse = [&](error const& why) { return fail(why, wanted.json, "report", joined(paths)); };
    bool const as_csv = wanted.as == "csv";
    std::string const out = !wanted.out.empty() ? wanted.out : as_csv ? "-" : "report.html";
    bool const to_output = out == "-";
    if (error const why = clash_of(wanted, runs.size(), as_csv, to_output)) { return refuse(why); }
    if (error const why = unknown_section(wanted.sections)) { return refuse(why); }
    outcome end{"report"};
    json const losses = json_list(runs, [&](trial const& each) { return end.look_at(each); });
    std::optional<new_file> file;
    if (!to_output) { file.emplace(out, wanted.force); }
    if (error const why = file ? file->trouble() : error{}) { return refuse(why); }
    result<std::string> const text = made_of(runs, bytes, wanted);
    if (!text) { return refuse(text.error()); }
    if (!file) {
        say_as_is(*text);
        return end.code();
    }
    (void)file->put(*text);
    if (error const why = file->finish()) { return refuse(why); }
    if (wanted.json) {
        json document = document_of("report", paths.front());
        document["runs"] = json_list(runs, [](trial const& each) { return std::string{each.path()}; });
        document["loss"] = losses;
        document["file"] = out;
        document["bytes"] = text->size();
        say_document(document);
    } else {
        say(fmt::format("{}: {} of {}\n", plain(out), spotter::detail::bytes_text(text->size()), plain(joined(paths))));
    }
    return end.code();
}

}  // namespace spotter_tool
