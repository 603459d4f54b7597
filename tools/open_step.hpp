// SPDX-License-Identifier: Apache-2.0
// Command line: the recorded part of the step that was open when a run died or failed.
#pragma once

#include "output.hpp"

#include <spotter/report/describe.hpp>
#include <spotter/trial/trial.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace spotter_tool {

// What a worker observed after its last close, in a step that was never closed.
struct open_step {
    struct tensor {
        std::string name{};
        double nonfinite = 0;  // number of elements; 0 if unknown
    };
    std::uint32_t worker = 0;
    spotter::step_id step{};
    std::vector<tensor> tensors{};  // in the order of declaration
    std::size_t findings = 0;       // the hook's findings about it
};

// For each worker that died or failed in a step.
[[nodiscard]] inline std::vector<open_step> open_steps_of(spotter::trial const& run) {
    using namespace spotter;
    std::vector<open_step> all;
    for (auto const& each : run.readers()) {
        if (each->status() != run_status::died && each->status() != run_status::failed) { continue; }
        worker_index const& its = each->index();
        std::uint64_t const next = its.steps().empty() ? 0 : its.steps().back().ordinal + 1;
        open_step open{each->number(), {}, {}, 0};
        for (auto const& tensor : its.tensors()) {
            bool seen = false;
            for (track_entry const& entry : tensor->entries) {
                if (entry.loose || entry.ordinal < next) { continue; }
                seen = true;
                open.step = entry.step;
            }
            if (!seen) { continue; }
            auto const bad = run[tensor->name].of(worker{each->number()}).stat(open.step, nonfinite);
            open.tensors.push_back({tensor->name, bad ? *bad : 0});
        }
        if (open.tensors.empty()) { continue; }
        for (finding const& found : run.findings()) {
            open.findings += found.worker == open.worker && found.step == open.step ? 1 : 0;
        }
        all.push_back(std::move(open));
    }
    return all;
}

// "train(7) was open: 3 tensors observed; not finite: "loss" (1 element)"
[[nodiscard]] inline std::string open_step_text(open_step const& it) {
    constexpr std::size_t most = 5;
    std::string text = fmt::format("{} was open{}: {} observed", spotter::describe(it.step),
                                   it.worker > 0 ? fmt::format(" in worker {}", it.worker) : std::string{},
                                   plural(it.tensors.size(), "tensor"));
    std::size_t bad = 0;
    for (open_step::tensor const& each : it.tensors) {
        if (!(each.nonfinite > 0)) { continue; }
        if (++bad > most) { continue; }
        text += fmt::format("{} \"{}\" ({})", bad == 1 ? "; not finite:" : ",", plain(each.name),
                            plural(static_cast<std::uint64_t>(each.nonfinite), "element"));
    }
    if (bad > most) { text += fmt::format(" and {} more", bad - most); }
    return text;
}

[[nodiscard]] inline json open_steps_json(std::vector<open_step> const& all) {
    auto const of_tensor = [](open_step::tensor const& it) -> json {
        return {{"name", it.name}, {"nonfinite", number(it.nonfinite)}};
    };
    return json_list(all, [&](open_step const& each) -> json {
        return {{"worker", each.worker},
                {"step", step_json(each.step)},
                {"findings", each.findings},
                {"tensors", json_list(each.tensors, of_tensor)}};
    });
}

// Why a run is not successful, whatever the findings for its closed steps; empty where it ended well or goes on.
[[nodiscard]] inline std::string bad_end_text(spotter::trial const& run) {
    std::string text;
    if (run.status() == spotter::run_status::died) {
        text = "died: the process that wrote it ended without a word";
    } else if (run.status() == spotter::run_status::failed) {
        text = "failed";
    } else {
        return {};
    }
    if (!run.why_ended().empty()) { text += fmt::format(": {}", plain(run.why_ended())); }
    for (open_step const& each : open_steps_of(run)) { text += "; " + open_step_text(each); }
    return text;
}

// Why no rule could judge a record; empty where one did.
template <class Coverages>
[[nodiscard]] std::string unjudged_text(spotter::trial const& run, Coverages const& coverages) {
    if (run.closed_steps() == 0) { return "no step was closed"; }
    if (run.names().empty()) { return "no tensor was recorded"; }
    bool const judged =
        std::any_of(coverages.begin(), coverages.end(), [](auto const& each) { return each.judged > 0; });
    return judged ? std::string{} : "no rule could judge";
}

}  // namespace spotter_tool
