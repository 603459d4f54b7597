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
[[nodiscard]] json json_of(mode_profile const& it) {
    json made{{"mode", std::string{name_of(it.mode)}}, {"steps", json_of(it.steps)},
              {"inside", number(it.inside)},           {"in_no_section", number((std::max)(0.0, 1 - it.named))},
              {"kernels", number(it.kernels)},         {"sections", json::array()},
              {"slow_steps", it.slow_steps},           {"slow", json::array()}};
    for (section_profile const& each : it.sections) {
        json one = json_of(each.spent);
        one["section"] = each.path;
        one["share"] = number(each.share);
        one["of_kernels"] = each.of_kernels;
        made["sections"].push_back(std::move(one));
    }
    for (slow_step const& each : it.slow) {
        made["slow"].push_back({{"step", step_json(each.step)},
                                {"seconds", number(each.seconds)},
                                {"section", each.section},
                                {"beyond", number(each.beyond)},
                                {"beside", each.beside}});
    }
    return made;
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

int profile(profile_options const& wanted) {
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
    document["workers"] = json::array();
    for (worker_profile const& each : profile.workers) {
        json modes = json::array();
        for (mode_profile const& mine : each.modes) { modes.push_back(json_of(mine)); }
        json one{{"worker", each.worker}, {"modes", std::move(modes)}};
        if (!each.machine.empty()) { one["machine"] = json_of(each.machine); }
        document["workers"].push_back(std::move(one));
    }
    say_document(document);
    return end.code();
}

}  // namespace spotter_tool
