// SPDX-License-Identifier: Apache-2.0
// Trial (L4): what examinations of the loop said (hook::add, hook::examine_with), as a record has it.
#pragma once

#include <spotter/judge/added_findings.hpp>
#include <spotter/rule/experiment.hpp>
#include <spotter/trial/trial.hpp>

#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// One that was put into the run: `watch.add(found)`.
struct recorded_examination {
    std::uint32_t worker = 0;  // whose loop
    std::string sentence{};    // "4 of 5 gradients are right, 1 wrong; first of what is wrong: ..."
};
// A gradient that was not proven right.
struct recorded_gradient {
    std::string name{};        // of its weight
    std::string verdict{};     // "wrong" or "not proven"
    double error = 0;          // |gradient - derivative| / |gradient|, or a bound of it
    double resolution = 0;     // the share of it that rounding of the loss may have made
    std::uint32_t worker = 0;  // whose loop
};
// What an experiment said of a rule whose alarm had asked for it, or, without a step, what one had proven right before.
struct recorded_word {
    step_id step{};                                               // of the alarm
    rule_id of = rule_id::other;                                  // which rule
    experiment_outcome outcome = experiment_outcome::not_proven;  // what it said
    std::string cause{}, tensor{};                                // of what is proven
    std::uint32_t worker = 0;                                     // whose loop
    bool from_here_on = false;                                    // no alarm of that rule is believed any more
};

// All that a run holds of them, in the order of the record. Texts of findings live with the run.
struct recorded_examinations {
    std::vector<recorded_examination> all{};     // those that were put into it
    std::vector<finding> findings{};             // theirs, which no rule has found: a replay does not find them again
    std::vector<recorded_gradient> gradients{};  // that they did not prove right
    std::vector<recorded_word> words{};          // of experiments after alarms

    [[nodiscard]] bool empty() const noexcept { return all.empty() && words.empty(); }
};
[[nodiscard]] recorded_examinations examinations_of(trial const& run);

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/trial/examined.ipp>
#endif
