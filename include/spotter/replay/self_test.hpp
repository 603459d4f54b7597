// SPDX-License-Identifier: Apache-2.0
// Replay (L5): what a run would have noticed: faults are planted into what its record says, and its rules are tried on
// each.
#pragma once

#include <spotter/replay/planted_fault.hpp>
#include <spotter/replay/replay.hpp>

#include <algorithm>
#include <set>

namespace spotter::inline SPOTTER_ABI {

// Which rule told of a planted fault.
struct told_of_fault {
    std::string rule{};                                    // its name
    std::string tensor{};                                  // that it blamed
    spotter::severity severity = spotter::severity::info;  // of what it told
    step_id step{};                                        // at which it told
    std::uint64_t after = 0;                               // train steps from the first with the fault on
};
// A rule that is made for a fault and did not tell of it, and why as far as it knows.
struct silent_rule {
    std::string rule{};  // its name
    std::string why{};   // a sentence; empty: it judged, and found nothing
};

// What the rules made of one planted fault.
struct self_test_result {
    planted_fault fault{};              // which
    step_id from{};                     // the first step with it
    std::uint64_t tensors = 0;          // it was planted in; 0: in none, see `fault.needed`
    std::string tensor{};               // the first of them
    std::vector<told_of_fault> told{};  // in their order; a rule once, or once as a note and once more
    std::vector<silent_rule> silent{};  // where it was not noticed

    // The record has a tensor that shows it.
    [[nodiscard]] bool planted() const noexcept { return tensors > 0; }
    // By a warning or an error. An info is a note only: packs hold symptoms for that while the loss of the record goes
    // on falling.
    [[nodiscard]] bool noticed() const noexcept {
        return std::any_of(told.begin(), told.end(),
                           [](told_of_fault const& each) { return each.severity >= severity::warning; });
    }
};

namespace detail {

// The rules, to which a fault is shown in place of what was recorded; none with a null planter.
template <class Judges>
class planted_judges {
public:
    static constexpr bool reads_times = Judges::reads_times;

    planted_judges(Judges& rules, fault_planter* planter) noexcept : rules_{rules}, planter_{planter} {}

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
    Judges& rules_;
    fault_planter* planter_;
};

struct self_test_findings {
    std::vector<told_of_fault> all{};
    std::vector<silent_rule> reasons{};  // of rules that did not judge all that they should
    std::set<std::string> rules{};       // that are there
};

template <class... Rules>
[[nodiscard]] self_test_findings judge_with_fault(worker_reader const& from, fault_planter* planter,
                                                  Rules const&... rules) {
    self_test_findings made;
    std::optional<judges<Rules...>> judging{std::in_place, rules...};
    planted_judges<judges<Rules...>> seen{*judging, planter};
    player<planted_judges<judges<Rules...>>> source{from.index(), seen};
    auto const keep = [&](step_id, step_alarm const& found) {
        for (finding const& each : found) {
            made.all.push_back({std::string{each.rule}, std::string{each.tensor}, each.severity, each.step, 0});
        }
    };
    (void)source.play(
        !from.running(), [](step_id) { return true; }, [](finding const&) {}, keep, keep,
        [&] {
            judging.emplace(rules...);
            if (planter != nullptr) { planter->restart(); }
        });
    judging->report([&](coverage const& each) {
        made.rules.emplace(each.rule);
        if (!each.reason.empty()) { made.reasons.push_back({std::string{each.rule}, std::string{each.reason}}); }
    });
    return made;
}

// What is told with the fault and was not without; a rule once.
[[nodiscard]] std::vector<told_of_fault> told_beyond(self_test_findings const& with, self_test_findings const& without,
                                                     step_id from);
[[nodiscard]] std::vector<silent_rule> silent_rules(planted_fault const& fault, self_test_findings const& with);
// The closed train steps, if there are enough.
[[nodiscard]] std::vector<step_id> train_steps_to_plant_in(worker_reader const& from);

}  // namespace detail

// Each fault of the list, one at a time, from the first train step on or from the middle, in what the lowest worker
// recorded. Nothing is written. Takes as many replays as there are faults, and one. Empty where fewer than 40 train
// steps were closed.
template <class... Rules>
[[nodiscard]] std::vector<self_test_result> self_test(trial const& run, Rules const&... rules) {
    std::vector<self_test_result> all;
    worker_reader const& from = *run.readers().front();
    std::vector<step_id> const steps = detail::train_steps_to_plant_in(from);
    if (steps.empty()) { return all; }
    detail::self_test_findings const healthy = detail::judge_with_fault(from, nullptr, rules...);
    for (planted_fault const& each : planted_faults()) {
        step_id const begin = each.early ? steps.front() : steps[steps.size() / 2];
        detail::fault_planter planter{each, begin};
        detail::self_test_findings const ill = detail::judge_with_fault(from, &planter, rules...);
        self_test_result one{each, begin, planter.tensors(), planter.first_tensor(), {}, {}};
        if (one.planted()) { one.told = detail::told_beyond(ill, healthy, begin); }
        if (!one.noticed()) { one.silent = detail::silent_rules(each, ill); }
        all.push_back(std::move(one));
    }
    return all;
}

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/replay/self_test.ipp>
#endif
