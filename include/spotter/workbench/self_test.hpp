// SPDX-License-Identifier: Apache-2.0
// Workbench: what a run's rules would have found: plants faults into its recorded data and replays the rules on each.
// Link spotter::workbench.
#pragma once

#include <spotter/core/role.hpp>
#include <spotter/core/step.hpp>
#include <spotter/rule/dynamic_rule.hpp>
#include <spotter/trial/trial.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// What is done to a tensor from the step of the fault on; k counts the steps since then.
enum class alteration : std::uint8_t {
    not_a_number,  // its first value is NaN
    scaled,        // times `factor`
    growing,       // times factor^k
    spikes,        // times `factor` at every 50th step
    level,         // its mean is constant, except for a wave of 0.5 %
    frozen,        // it keeps its values
    shuffled,      // the rows of a batch belong to other samples: each is moved by half a batch
    one_row,       // all rows of a batch equal its first
};

// What a fault does to the training loss, from the same step on.
enum class outcome_of_fault : std::uint8_t { as_recorded, stands_still, rises };

// A typical mistake of a program, as it would show in a record.
struct planted_fault {
    std::string_view name{};           // its name in `spotter check --self-test`
    std::string_view what{};           // one sentence
    std::string_view needed{};         // what must be recorded to show it
    spotter::role role = role::other;  // of the tensors that show it
    spotter::mode mode = mode::train;  // of the steps that show it
    bool all = false;                  // all tensors of that role; otherwise the first
    bool early = false;  // it is there from the first train step on; otherwise it begins in the middle of the run
    alteration how = alteration::scaled;                    // what is done to them
    double factor = 1;                                      // of `scaled`, `growing` and `spikes`
    outcome_of_fault loss = outcome_of_fault::as_recorded;  // what the loss does then
    std::string_view rules[3]{};                            // the rules that should find it
    std::string_view kept{};                                // what it needs of these tensors, beside statistics
};

// Typical faults of trainings, independent of any framework.
[[nodiscard]] std::span<planted_fault const> planted_faults() noexcept;

// A rule that reported a planted fault.
struct fault_report {
    std::string rule{};                                    // its name
    std::string tensor{};                                  // the tensor that it blamed
    spotter::severity severity = spotter::severity::info;  // of its finding
    step_id step{};                                        // the step of its finding
    std::uint64_t after = 0;                               // train steps after the first one with the fault
};
// A rule that should find a fault and did not, and the reason if it knows one.
struct silent_rule {
    std::string rule{};  // its name
    std::string why{};   // one sentence; empty: it judged, and found nothing
};

// The rules' results for one planted fault.
struct self_test_result {
    planted_fault fault{};                // which
    step_id from{};                       // the first step with it
    std::uint64_t tensors = 0;            // number of altered tensors; 0: see `unseen`
    std::string tensor{};                 // the first tensor of that role, altered or not
    std::string unseen{};                 // one sentence: why no tensor could be altered
    std::vector<fault_report> reports{};  // in order; each rule once, or once as a note and once as an alarm
    std::vector<silent_rule> silent{};    // only if the fault was not noticed

    // The record has a tensor that can show it.
    [[nodiscard]] bool planted() const noexcept { return tensors > 0; }
    // A warning or an error reported it. A note does not count: packs report symptoms as notes while the recorded loss
    // goes on falling.
    [[nodiscard]] bool noticed() const noexcept {
        return std::any_of(reports.begin(), reports.end(),
                           [](fault_report const& each) { return each.severity >= severity::warning; });
    }
};

// Plants each fault of the list separately, in the record of the lowest worker, from the first train step on or from
// the middle. `rules` are any rules, as `to_dynamic(a || b)`. Writes nothing. Costs one replay for each fault, and one
// more. Empty where fewer than 40 train steps were closed.
[[nodiscard]] std::vector<self_test_result> self_test(trial const& run, dynamic_rule const& rules);

}  // namespace spotter::inline SPOTTER_ABI
