// SPDX-License-Identifier: Apache-2.0
// Command line: findings and coverages as JSON, and runs of equal findings as one line.
#pragma once

#include "output.hpp"

#include <spotter/report.hpp>
#include <spotter/rule/describe.hpp>

#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace spotter_tool {

[[nodiscard]] inline json finding_json(spotter::finding const& it) {
    return {{"severity", std::string{name_of(it.severity)}},
            {"rule", std::string{it.rule}},
            {"reason", std::string{it.reason}},
            {"step", step_json(it.step)},
            {"tensor", std::string{it.tensor}},
            {"measure", std::string{it.measure}},
            {"measured", number(it.measured)},
            {"threshold", number(it.threshold)},
            {"decision", std::string{name_of(it.decision)}},
            {"others", it.others},
            {"worker", it.worker}};
}
template <class Coverage>
[[nodiscard]] json coverage_json(Coverage const& it) {
    return {{"rule", std::string{it.rule}},
            {"judged", it.judged},
            {"undecided", it.undecided},
            {"fired", it.fired},
            {"could_not_run", std::string{it.reason}}};
}
template <class Coverages>
[[nodiscard]] json coverages_json(Coverages const& all) {
    json list = json::array();
    for (auto const& each : all) { list.push_back(coverage_json(each)); }
    return list;
}

// What one rule said of one tensor, again and again.
struct repeated_finding {
    spotter::finding first{};
    std::uint64_t times = 0;
    spotter::step_id last{};
};
[[nodiscard]] inline std::vector<repeated_finding> gathered(std::span<spotter::finding const> all) {
    std::vector<repeated_finding> found;
    std::map<std::tuple<std::string_view, std::string_view, std::string_view, std::uint32_t>, std::size_t> places;
    for (spotter::finding const& each : all) {
        auto const [at, is_new] = places.try_emplace({each.rule, each.reason, each.tensor, each.worker}, found.size());
        if (is_new) { found.push_back({each, 0, {}}); }
        ++found[at->second].times;
        found[at->second].last = each.step;
    }
    return found;
}

[[nodiscard]] inline std::string finding_text(spotter::finding const& it) {
    spotter::text<1024> line;
    describe(it, line);
    return plain(line.view());
}

}  // namespace spotter_tool
