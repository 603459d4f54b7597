// SPDX-License-Identifier: Apache-2.0
// Workbench: where the time of a run's steps went: how long they took, in which sections, which were slow, and what the
// machine did meanwhile, as a system_sampler recorded it beside the run (ext/system.hpp). Link spotter::workbench.
#pragma once

#include <spotter/trial/trial.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// One thing of the machine over its samples. Quantiles are nearest rank, of the samples that know it.
struct machine_series {
    std::string name{};  // without `sys/`: "io_wait", "gpu_util/0"; of the cores "cpu", their mean, and "busiest_core"
    std::vector<double> values{};        // one a sample; not a number where it was not known
    double mean = 0, p95 = 0, most = 0;  // of the samples that know it; 0 where none does
};

struct machine_profile {                   // what the machine did meanwhile
    std::uint64_t cores = 0;               // of the processor; 0 where it was not told
    std::vector<double> times{};           // of the samples, in seconds since 1970, as those of steps
    std::vector<machine_series> series{};  // each as long as `times`

    [[nodiscard]] bool empty() const noexcept { return times.empty(); }
    // Null where there is none of that name.
    [[nodiscard]] machine_series const* find(std::string_view name) const noexcept;
    // Mean over all samples; 0 where it is not known.
    [[nodiscard]] double mean_of(std::string_view name) const noexcept;
    // The sample in which a moment lies: the first that was taken at it or behind it. times.size() where there is none.
    [[nodiscard]] std::size_t sample_at(double time) const noexcept;
};

// Empty where nothing was sampled.
[[nodiscard]] machine_profile machine_of(trial const& run, worker which);

// As text: a line for each thing that people look at. Empty where nothing was sampled.
[[nodiscard]] std::string describe(machine_profile const& it);
// What stood out of the usual between two moments: "others had 60 % of the processor". Empty where nothing did.
[[nodiscard]] std::string unusual_between(machine_profile const& it, double from, double to);

// Of how long something took, in seconds. Quantiles are nearest rank.
struct duration_summary {
    std::uint64_t count = 0;                           // how often
    double sum = 0, median = 0, p99 = 0, longest = 0;  // seconds; 0 where count is 0

    [[nodiscard]] double mean() const noexcept { return count > 0 ? sum / static_cast<double>(count) : 0; }  // seconds
};

// A section of the steps of a mode, as `watch.section` named it.
struct section_profile {
    std::string path{};        // "forward/conv": conv within forward
    duration_summary spent{};  // in steps that had it
    double share = 0;          // of the time of all steps of the mode

    // It is in no other section.
    [[nodiscard]] bool is_outer() const noexcept { return path.find('/') == std::string::npos; }
};

// A step that took more than twice the median and 5 robust standard deviations above it (step_time_outlier's limits),
// with the section that took most beyond its own median, where there are sections, and what stands beside it in the
// record.
struct slow_step {
    step_id step{};         // which
    double seconds = 0;     // from the close before to its own
    std::string section{};  // empty: none, or in no section
    double beyond = 0;      // seconds of it beyond the section's median
    std::string beside{};   // "behind eval(40)", "a finding of non_finite", "others had 60 % of the processor"
};

struct mode_profile {                         // the steps of one mode of a worker
    spotter::mode mode{};                     // of all that follows
    duration_summary steps{};                 // from the close before to their own; without the first of each attempt
    double inside = 0;                        // of their sum, between begin and close: 0 to 1
    double named = 0;                         // in outer sections
    std::vector<section_profile> sections{};  // outer ones largest first, each with what is in it behind it
    std::vector<slow_step> slow{};            // the longest ten
    std::uint64_t slow_steps = 0;             // in all
};

struct worker_profile {                 // one worker of a run
    std::uint32_t worker = 0;           // its number
    std::vector<mode_profile> modes{};  // that have timed steps
    machine_profile machine{};          // meanwhile, where it was sampled
};

struct run_profile {                        // where the time went
    std::vector<worker_profile> workers{};  // in the order of their numbers
    std::string verdict{};                  // what a step is made of or waits for, and what to do about it
};

// Reads the times of all steps, of all scalars `time/...` of them, and the samples beside them. A record without times
// has modes without steps.
[[nodiscard]] run_profile profile_of(trial const& run);

// As text, for people: a table a mode, slow steps, the verdict.
[[nodiscard]] std::string describe(run_profile const& it);

}  // namespace spotter::inline SPOTTER_ABI
