// SPDX-License-Identifier: Apache-2.0
// Command line, `profile`: where the time of a run's steps went.
#include "folders.hpp"
#include "outcome.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "verbs.hpp"

#include <spotter/workbench/profile.hpp>

namespace spotter_tool {

using namespace spotter;

namespace {

[[nodiscard]] json json_of(duration_summary const& it) {
    return {{"count", it.count},           {"sum", number(it.sum)}, {"mean", number(it.mean())},
            {"median", number(it.median)}, {"p99", number(it.p99)}, {"longest", number(it.longest)}};
}
[[nodiscard]] json section_json(section_profile const& it) {
    json one = json_of(it.spent);
    one["section"] = it.path;
    one["share"] = number(it.share);
    one["of_kernels"] = it.of_kernels;
    return one;
}
[[nodiscard]] json slow_json(slow_step const& it) {
    return {{"step", step_json(it.step)},
            {"seconds", number(it.seconds)},
            {"section", it.section},
            {"beyond", number(it.beyond)},
            {"beside", it.beside}};
}
[[nodiscard]] json json_of(mode_profile const& it) {
    return {{"mode", std::string{name_of(it.mode)}}, {"steps", json_of(it.steps)},
            {"inside", number(it.inside)},           {"in_no_section", number((std::max)(0.0, 1 - it.named))},
            {"kernels", number(it.kernels)},         {"sections", json_list(it.sections, section_json)},
            {"slow_steps", it.slow_steps},           {"slow", json_list(it.slow, slow_json)}};
}

[[nodiscard]] json json_of(machine_profile const& it) {
    json made{{"cores", it.cores}, {"samples", it.times.size()}, {"series", json::object()}};
    for (machine_series const& each : it.series) {
        made["series"][each.name] = {
            {"mean", number(each.mean)}, {"p95", number(each.p95)}, {"most", number(each.most)}};
    }
    return made;
}

}  // namespace

int profile(run_and_json const& wanted) {
    std::string const path = tidy(wanted.path);
    std::vector<recording> all;
    if (error const why = find_recordings(path, all)) { return fail(why, wanted.json, "profile", path); }
    auto const run = open_trial(path);
    if (!run) { return fail(run.error(), wanted.json, "profile", path); }
    progress bar{"profile", {bytes_of(all)}};
    counted_reading const counting{*run, bar, reading::all};
    outcome end{"profile"};
    json const losses = end.look_at(*run);
    run_profile const profile = profile_of(*run);
    if (!wanted.json) {
        say(plain_lines(describe(profile)));
        return end.code();
    }
    json document = document_of("profile", path);
    document["loss"] = losses;
    document["verdict"] = profile.verdict;
    document["workers"] = json_list(profile.workers, [](worker_profile const& each) {
        auto const of_mode = [](mode_profile const& mine) { return json_of(mine); };
        json one{{"worker", each.worker}, {"modes", json_list(each.modes, of_mode)}};
        if (!each.machine.empty()) { one["machine"] = json_of(each.machine); }
        return one;
    });
    say_document(document);
    return end.code();
}

}  // namespace spotter_tool
