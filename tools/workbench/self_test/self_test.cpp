// SPDX-License-Identifier: Apache-2.0
// Workbench, self_test: the bodies of spotter/workbench/self_test.hpp.
#include "self_test/planter.hpp"

#include <spotter/replay/replay.hpp>

#include <algorithm>
#include <set>

namespace spotter::inline SPOTTER_ABI::detail {

// The rules, which observe a fault in place of the record; with a null planter the record itself.
class planted_judges {
public:
    static constexpr bool reads_times = judges<dynamic_rule>::reads_times;

    planted_judges(judges<dynamic_rule>& rules, fault_planter* planter) noexcept : rules_{rules}, planter_{planter} {}

    template <class Use>
    void declare(tensor_info const& tensor, Use&& use) noexcept {
        rules_.declare(tensor, use);
    }
    [[nodiscard]] std::uint64_t due(step_id step) noexcept { return rules_.due(step); }
    void observe(observation const& it, std::uint64_t set) {
        if (planter_ == nullptr) { return rules_.observe(it, set); }
        rules_.observe(planter_->alter(it), set);
    }
    template <class Deliver>
    void close(step_id step, std::uint64_t set, step_alarm& into, Deliver&& deliver) noexcept {
        rules_.close(step, set, into, deliver);
    }
    void poll(double const& now) noexcept { rules_.poll(now); }
    [[nodiscard]] auto& experiment() noexcept { return rules_.experiment(); }

private:
    judges<dynamic_rule>& rules_;
    fault_planter* planter_;
};

struct self_test_findings {
    std::vector<fault_report> all{};
    std::vector<silent_rule> reasons{};  // for rules that did not judge everything that they should
    std::set<std::string> rules{};       // all of them
};

[[nodiscard]] static self_test_findings judge_with_fault(worker_reader const& from, fault_planter* planter,
                                                         dynamic_rule const& rules) {
    self_test_findings made;
    std::optional<judges<dynamic_rule>> judging{std::in_place, rules};
    planted_judges seen{*judging, planter};
    player<planted_judges> source{from.index(), seen};
    auto const keep = [&](step_id, step_alarm const& found) {
        for (finding const& each : found) {
            made.all.push_back({std::string{each.rule}, std::string{each.tensor}, each.severity, each.step, 0});
        }
    };
    (void)source.play(
        !from.running(), [](step_id) { return true; }, [](finding const&) {}, keep, keep,
        [&] {
            judging.emplace(rules);
            if (planter != nullptr) { planter->restart(); }
        });
    judging->report([&](coverage const& each) {
        made.rules.emplace(each.rule);
        if (!each.reason.empty()) { made.reasons.push_back({std::string{each.rule}, std::string{each.reason}}); }
    });
    return made;
}

// The closed train steps, if there are enough.
[[nodiscard]] static std::vector<step_id> train_steps_to_plant_in(worker_reader const& from) {
    std::vector<step_id> all;
    for (closed_step const& each : from.index().steps()) {
        if (each.step.mode == mode::train) { all.push_back(each.step); }
    }
    if (all.size() < 40) { all.clear(); }
    return all;
}

// The findings that are only reported with the fault; each rule once.
[[nodiscard]] static std::vector<fault_report> reports_beyond(self_test_findings const& with,
                                                              self_test_findings const& without, step_id from) {
    std::set<std::pair<std::string, std::string>> usual;
    for (fault_report const& each : without.all) {
        usual.emplace(each.rule + (each.severity < severity::warning ? " as a note" : ""), each.tensor);
    }
    std::vector<fault_report> reports;
    for (fault_report each : with.all) {
        bool const known =
            usual.contains({each.rule + (each.severity < severity::warning ? " as a note" : ""), each.tensor});
        bool const again = std::any_of(reports.begin(), reports.end(), [&](fault_report const& other) {
            return other.rule == each.rule &&
                   (other.severity >= severity::warning || each.severity < severity::warning);
        });
        bool const before = each.step.mode == from.mode && each.step.index < from.index;
        if (known || again || before) { continue; }
        each.after = each.step.mode == from.mode ? each.step.index - from.index : 0;
        reports.push_back(std::move(each));
    }
    return reports;
}

[[nodiscard]] static std::vector<silent_rule> silent_rules(planted_fault const& fault, self_test_findings const& with) {
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

// Why a fault was planted nowhere.
[[nodiscard]] static std::string why_unseen(planted_fault const& fault, fault_planter const& planter) {
    std::string const& first = planter.first_tensor();
    if (first.empty()) { return "the record shows no " + std::string{fault.needed}; }
    if (fault.kept.empty()) { return "the record is too short: the fault begins after its last steps"; }
    if (planter.saw_values()) { return "\"" + first + "\" has fewer than two samples along its first axis"; }
    return "the plan keeps no " + std::string{fault.kept} + " of " + std::string{fault.needed} + " in " +
           std::string{name_of(fault.mode)} + ": a collection of \"" + first + "\" with `payload`, due in " +
           std::string{name_of(fault.mode)} + ", keeps them";
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

std::vector<self_test_result> self_test(trial const& run, dynamic_rule const& rules) {
    std::vector<self_test_result> all;
    worker_reader const& from = *run.readers().front();
    std::vector<step_id> const steps = detail::train_steps_to_plant_in(from);
    if (steps.empty()) { return all; }
    detail::self_test_findings const healthy = detail::judge_with_fault(from, nullptr, rules);
    for (planted_fault const& each : planted_faults()) {
        step_id const begin = each.early ? steps.front() : steps[steps.size() / 2];
        detail::fault_planter planter{each, begin};
        detail::self_test_findings const ill = detail::judge_with_fault(from, &planter, rules);
        self_test_result one{each, begin, planter.tensors(), planter.first_tensor(), {}, {}, {}};
        if (!one.planted()) { one.unseen = detail::why_unseen(each, planter); }
        if (one.planted()) { one.reports = detail::reports_beyond(ill, healthy, begin); }
        if (!one.noticed()) { one.silent = detail::silent_rules(each, ill); }
        all.push_back(std::move(one));
    }
    return all;
}

}  // namespace spotter::inline SPOTTER_ABI
