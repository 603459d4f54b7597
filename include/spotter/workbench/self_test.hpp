// SPDX-License-Identifier: Apache-2.0
// Workbench: what a run would have noticed: faults are planted into what its record says, and its rules are tried on
// each. Link spotter::workbench.
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

// What is done to a tensor from the step of the fault on; k counts its steps since.
enum class alteration : std::uint8_t {
    not_a_number,  // its first value is NaN
    scaled,        // times `factor`
    growing,       // times factor^k
    spikes,        // times `factor` at every 50th step
    level,         // its mean stands still, up to a wave of 0.5 %
    frozen,        // as it was
    shuffled,      // the rows of a batch belong to other samples: each is taken from half a batch away
    one_row,       // all rows of a batch are its first
};

// What comes of a fault: the loss in training, from the same step on.
enum class outcome_of_fault : std::uint8_t { as_recorded, stands_still, rises };

// A mistake that programs make, as a record would show it.
struct planted_fault {
    std::string_view name{};           // as `spotter check --self-test` calls it
    std::string_view what{};           // a sentence
    std::string_view needed{};         // what has to be recorded for it
    spotter::role role = role::other;  // of the tensors that show it
    spotter::mode mode = mode::train;  // at whose steps they do
    bool all = false;                  // of that role, or the first
    bool early = false;  // a program has it from the first train step on, or it comes in the middle of the run
    alteration how = alteration::scaled;                    // what is done to them
    double factor = 1;                                      // of `scaled`, `growing` and `spikes`
    outcome_of_fault loss = outcome_of_fault::as_recorded;  // what the loss does then
    std::string_view rules[3]{};                            // that are made for it
};

// Faults that trainings have, each as one of these would show it. None of them is about one framework.
[[nodiscard]] std::span<planted_fault const> planted_faults() noexcept;

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

// Each fault of the list, one at a time, from the first train step on or from the middle, in what the lowest worker
// recorded; `rules` are any rules, as `to_dynamic(a || b)`. Nothing is written. Takes as many replays as there are
// faults, and one. Empty where fewer than 40 train steps were closed.
[[nodiscard]] std::vector<self_test_result> self_test(trial const& run, dynamic_rule const& rules);

}  // namespace spotter::inline SPOTTER_ABI
