// SPDX-License-Identifier: Apache-2.0
// Command line: what an examination of the loop found (hook::add), which a replay of rules does not find again.
#pragma once

#include <spotter/judge/added_findings.hpp>
#include <spotter/trial.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace spotter_tool {

// As recorded, in that order; their texts live with the run.
[[nodiscard]] inline std::vector<spotter::finding> examined_findings(spotter::trial const& run) {
    std::vector<spotter::finding> made;
    if (run.names(spotter::examined_event).empty()) { return made; }
    for (std::uint32_t const number : run.workers()) {
        auto const texts = run[spotter::examined_event].of(spotter::worker{number}).loose();
        for (spotter::finding const& each : run.findings()) {
            std::string const mine{spotter::examined_text(each).view()};
            if (each.worker == number &&
                std::any_of(texts.begin(), texts.end(), [&](auto const& text) { return text.bytes == mine; })) {
                made.push_back(each);
            }
        }
    }
    return made;
}

}  // namespace spotter_tool
