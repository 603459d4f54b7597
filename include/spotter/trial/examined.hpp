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
#include <spotter/core/parse_number.hpp>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Parses for example "wrong 0.995 0.002 fc2/w".
[[nodiscard]] inline recorded_gradient gradient_of_line(std::string_view line, std::uint32_t worker) {
    auto const word = [&] {
        std::string_view const made = line.substr(0, line.find(' '));
        line.remove_prefix((std::min)(line.size(), made.size() + 1));
        return made;
    };
    recorded_gradient made;
    made.worker = worker;
    made.verdict = word() == "wrong" ? "wrong" : "not proven";
    (void)parse_number(word(), made.error);
    (void)parse_number(word(), made.resolution);
    made.name = line;
    return made;
}

inline void add_words(std::string const& text, step_id step, std::uint32_t worker, std::vector<recorded_word>& into) {
    experiment_reader read{text};
    if (!read.read()) { return; }
    for (rule_id const each : read.right()) {
        into.push_back({step, each, experiment_outcome::refuted, {}, {}, worker, true});
    }
    for (std::size_t i = 0; i < read.answer().count; ++i) {
        experiment_answer::word const& it = read.answer().words[i];
        into.push_back(
            {step, it.of, it.outcome, std::string{it.proof.cause}, std::string{it.proof.tensor}, worker, false});
    }
}

}  // namespace detail

SPOTTER_BODY recorded_examinations examinations_of(trial const& run) {
    recorded_examinations made;
    auto const holds = [&](std::string_view name) { return !run.names(name).empty(); };
    bool const added = holds(examination_event), asked = holds(experiment_event);
    if (!added && !asked) { return made; }
    for (std::uint32_t const number : run.workers()) {
        worker const its{number};
        if (added) {
            for (auto const& each : run[examination_event].of(its).loose()) {
                made.all.push_back({number, each.bytes});
            }
            for (auto const& each : run[examined_gradient_event].of(its).loose()) {
                made.gradients.push_back(detail::gradient_of_line(each.bytes, number));
            }
            auto const texts = run[examined_event].of(its).loose();
            for (finding const& each : run.findings()) {
                std::string const mine{examined_text(each).view()};
                if (each.worker == number &&
                    std::any_of(texts.begin(), texts.end(), [&](auto const& text) { return text.bytes == mine; })) {
                    made.findings.push_back(each);
                }
            }
        }
        if (!asked) { continue; }
        auto const track = run[experiment_event].of(its);
        for (step_id const step : track.steps()) {
            auto const text = track.at(step).to<std::string>();
            if (text) { detail::add_words(*text, step, number, made.words); }
        }
    }
    return made;
}

}  // namespace spotter::inline SPOTTER_ABI

#endif
