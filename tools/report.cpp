// SPDX-License-Identifier: Apache-2.0
// Command line, `report`: a run, or several side by side, as one page of HTML.
#include "folders.hpp"
#include "new_file.hpp"
#include "outcome.hpp"
#include "output.hpp"
#include "verbs.hpp"

#include <spotter/report/bytes.hpp>
#include <spotter/report/html.hpp>

namespace spotter_tool {

using namespace spotter;

int report(report_options const& wanted) {
    std::vector<trial> runs;
    std::string paths;
    for (std::string const& each : wanted.paths) {
        std::string const path = tidy(each);
        paths += (paths.empty() ? "" : ", ") + path;
        std::vector<recording> all;
        if (error const why = find_recordings(path, all)) { return fail(why, wanted.json, "report", path); }
        auto run = open_trial(path);
        if (!run) { return fail(run.error(), wanted.json, "report", path); }
        runs.push_back(std::move(*run));
    }
    outcome end{"report"};
    json losses = json::array();
    for (trial const& each : runs) { losses.push_back(end.look_at(each)); }
    bool const to_output = wanted.out == "-";
    if (to_output && wanted.json) {
        return fail({errc::bad_config, "the page and --json cannot both go to standard output: give a file with -o"},
                    true, "report", paths);
    }
    if (to_output) {
        say(to_html(std::span<trial const>{runs}));
        return end.code();
    }
    new_file file{wanted.out, wanted.force};
    if (error const why = file.trouble()) { return fail(why, wanted.json, "report", paths); }
    std::string const page = to_html(std::span<trial const>{runs});
    error why = file.put(page);
    if (!why) { why = file.finish(); }
    if (why) { return fail(why, wanted.json, "report", paths); }
    if (wanted.json) {
        json document = document_of("report", tidy(wanted.paths.front()));
        document["runs"] = json::array();
        for (trial const& each : runs) { document["runs"].push_back(std::string{each.path()}); }
        document["loss"] = losses;
        document["file"] = wanted.out;
        document["bytes"] = page.size();
        say_document(document);
    } else {
        say(fmt::format("{}: {} of {}\n", plain(wanted.out), spotter::detail::bytes_text(page.size()), plain(paths)));
    }
    return end.code();
}

}  // namespace spotter_tool
