// SPDX-License-Identifier: Apache-2.0
// Command line: findings and coverages as JSON.
#pragma once

#include "output.hpp"

#include <spotter/report.hpp>
#include <spotter/report/gathered.hpp>
#include <spotter/rule/describe.hpp>

#include <span>
#include <string>

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
    return json_list(all, [](auto const& each) { return coverage_json(each); });
}

// Merges equal findings of a rule for one tensor of one worker.
[[nodiscard]] inline auto gathered(std::span<spotter::finding const> all) {
    return spotter::detail::gather_findings(all, spotter::detail::workers_are::apart);
}

[[nodiscard]] inline std::string finding_text(spotter::finding const& it) {
    spotter::text<1024> line;
    describe(it, line);
    return plain(line.view());
}

}  // namespace spotter_tool
