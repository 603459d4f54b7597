// SPDX-License-Identifier: Apache-2.0
// The bodies of self_test.hpp.
#pragma once

#include <spotter/replay/self_test.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY std::vector<step_id> train_steps_to_plant_in(worker_reader const& from) {
    std::vector<step_id> all;
    for (closed_step const& each : from.index().steps()) {
        if (each.step.mode == mode::train) { all.push_back(each.step); }
    }
    if (all.size() < 40) { all.clear(); }
    return all;
}

SPOTTER_BODY std::vector<told_of_fault> told_beyond(self_test_findings const& with, self_test_findings const& without,
                                                    step_id from) {
    std::set<std::pair<std::string, std::string>> usual;
    for (told_of_fault const& each : without.all) {
        usual.emplace(each.rule + (each.severity < severity::warning ? " as a note" : ""), each.tensor);
    }
    std::vector<told_of_fault> told;
    for (told_of_fault each : with.all) {
        bool const known =
            usual.contains({each.rule + (each.severity < severity::warning ? " as a note" : ""), each.tensor});
        bool const again = std::any_of(told.begin(), told.end(), [&](told_of_fault const& other) {
            return other.rule == each.rule &&
                   (other.severity >= severity::warning || each.severity < severity::warning);
        });
        bool const before = each.step.mode == from.mode && each.step.index < from.index;
        if (known || again || before) { continue; }
        each.after = each.step.mode == from.mode ? each.step.index - from.index : 0;
        told.push_back(std::move(each));
    }
    return told;
}

SPOTTER_BODY std::vector<silent_rule> silent_rules(planted_fault const& fault, self_test_findings const& with) {
    std::vector<silent_rule> silent;
    for (std::string_view const name : fault.rules) {
        if (name.empty()) { continue; }
        auto const its = std::find_if(with.reasons.begin(), with.reasons.end(),
                                      [&](silent_rule const& each) { return each.rule == name; });
        std::string why = !with.rules.contains(std::string{name}) ? "not among the rules"
                          : its != with.reasons.end()             ? its->why
                                                                  : "judged, and found nothing";
        silent.push_back({std::string{name}, std::move(why)});
    }
    return silent;
}

}  // namespace spotter::inline SPOTTER_ABI::detail
