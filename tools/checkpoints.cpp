// SPDX-License-Identifier: Apache-2.0
// Command line, `checkpoints`: which of a run's checkpoints are good, and why others are not.
#include "folders.hpp"
#include "outcome.hpp"
#include "output.hpp"
#include "verbs.hpp"

#include <spotter/act/recorded_checkpoints.hpp>

namespace spotter_tool {

using namespace spotter;

int list_checkpoints(run_and_json const& wanted) {
    std::string const path = tidy(wanted.path);
    std::vector<recording> parts;
    if (error const why = find_recordings(path, parts)) { return fail(why, wanted.json, "checkpoints", path); }
    auto const run = open_trial(path);
    if (!run) { return fail(run.error(), wanted.json, "checkpoints", path); }
    outcome end{"checkpoints"};
    json const losses = end.look_at(*run);
    std::vector<recorded_checkpoint> const all = checkpoints_of(*run);
    if (wanted.json) {
        json document = document_of("checkpoints", path);
        document["loss"] = losses;
        document["checkpoints"] = json_list(all, [](recorded_checkpoint const& each) -> json {
            return {
                {"step", step_json(each.step)}, {"state", each.state}, {"why", each.why}, {"time", number(each.time)}};
        });
        say_document(document);
        return end.code();
    }
    std::string text;
    for (recorded_checkpoint const& each : all) {
        text += fmt::format("{}  {}{}{}\n", step_text(each.step), each.state, each.why.empty() ? "" : ": ", each.why);
    }
    say(plain_lines(all.empty() ? "The record has no checkpoints.\n" : text));
    return end.code();
}

}  // namespace spotter_tool
