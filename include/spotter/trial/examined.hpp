// SPDX-License-Identifier: Apache-2.0
// Trial (L4): the recorded results of examinations of the loop (hook::add, hook::examine_with).
#pragma once

#include <spotter/judge/added_findings.hpp>
#include <spotter/rule/experiment.hpp>
#include <spotter/trial/trial.hpp>

#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// An examination that was added to the run: `watch.add(found)`.
struct recorded_examination {
    std::uint32_t worker = 0;  // the worker of the loop
    std::string sentence{};    // "4 of 5 gradients are right, 1 wrong; first of what is wrong: ..."
};
// A gradient that was not proven correct.
struct recorded_gradient {
    std::string name{};        // the weight's name
    std::string verdict{};     // "wrong" or "not proven"
    double error = 0;          // |gradient - derivative| / |gradient|, or a bound for it
    double resolution = 0;     // the part of it that rounding of the loss may cause
    std::uint32_t worker = 0;  // the worker of the loop
};
// The outcome of an experiment for the alarm of a rule; without a step, an earlier proof that a rule's cause is absent.
struct recorded_word {
    step_id step{};                                               // of the alarm
    rule_id of = rule_id::other;                                  // the rule
    experiment_outcome outcome = experiment_outcome::not_proven;  // of the experiment
    std::string cause{}, tensor{};                                // of a proven cause
    std::uint32_t worker = 0;                                     // the worker of the loop
    bool from_here_on = false;                                    // later alarms of that rule are disproved
};

// All recorded examinations of a run, in the order of the record. The texts of findings live with the run.
struct recorded_examinations {
    std::vector<recorded_examination> all{};     // the examinations
    std::vector<finding> findings{};             // of examinations; no rule found them, so a replay does not find them
    std::vector<recorded_gradient> gradients{};  // not proven correct
    std::vector<recorded_word> words{};          // of experiments for alarms

    [[nodiscard]] bool empty() const noexcept { return all.empty() && words.empty(); }
};
[[nodiscard]] recorded_examinations examinations_of(trial const& run);

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/trial/examined.ipp>
#endif
