// SPDX-License-Identifier: Apache-2.0
// Command line, `check`: what rules asked for and a record lacks.
#pragma once

#include "output.hpp"

#include <spotter/replay.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace spotter_tool {

// What rules asked for and the record lacks: by what it is, most observations first.
[[nodiscard]] inline std::string lacking_lines(spotter::replay_report const& it) {
    struct group {
        spotter::stats_mask missing{};
        std::uint64_t times = 0;
        spotter::step_id first{};
        std::vector<std::string> names{};
    };
    std::vector<group> groups;
    std::uint64_t times = 0;
    for (spotter::lacking_data const& each : it.lacking) {
        times += each.times;
        auto at = std::find_if(groups.begin(), groups.end(),
                               [&](group const& other) { return other.missing == each.missing; });
        if (at == groups.end()) { at = groups.insert(at, {each.missing, 0, each.first, {}}); }
        at->times += each.times;
        std::string const name{each.tensor};
        if (std::find(at->names.begin(), at->names.end(), name) == at->names.end()) { at->names.push_back(name); }
    }
    std::sort(groups.begin(), groups.end(), [](group const& a, group const& b) {
        return a.times != b.times ? a.times > b.times : a.missing < b.missing;  // no two groups lack the same
    });
    constexpr std::size_t most = 3;
    std::string lines = fmt::format("  not all could be judged: {} of {} lack what a rule asks for\n", times,
                                    plural(it.observations, "observation"));
    for (std::size_t i = 0; i < groups.size() && i < most; ++i) {
        spotter::sentence what;
        describe(groups[i].missing, what);
        lines += fmt::format("    {} of {}, first at {}\n", what.view(), some_of(groups[i].names, quoted, most),
                             step_text(groups[i].first));
    }
    if (groups.size() > most) { lines += fmt::format("    and {}\n", plural(groups.size() - most, "more kind")); }
    return lines + "    A collection of the plan that keeps these statistics at these steps, or the values, has them "
                   "judged.\n";
}

[[nodiscard]] inline json lacking_json(spotter::lacking_data const& it) {
    spotter::sentence what;
    describe(it.missing, what);
    return {{"tensor", std::string{it.tensor}},
            {"what", std::string{what.view()}},
            {"observations", it.times},
            {"first", step_json(it.first)}};
}

}  // namespace spotter_tool
