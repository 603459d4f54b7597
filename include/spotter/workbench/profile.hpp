// SPDX-License-Identifier: Apache-2.0
// Workbench: how a run's steps spent their time: durations, sections, slow steps, and the state of the machine
// meanwhile, if a system_sampler recorded it (ext/system.hpp). Link spotter::workbench.
#pragma once

#include <spotter/trial/trial.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// The samples of one metric of the machine. Quantiles are nearest rank, over the known samples.
struct machine_series {
    std::string name{};  // without `sys/`: "io_wait", "gpu_util/0"; of the cores "cpu", their mean, and "busiest_core"
    std::vector<double> values{};        // one for each sample; NaN where unknown
    double mean = 0, p95 = 0, most = 0;  // over the known samples; 0 where there are none
};

struct machine_profile {                   // the state of the machine during the run
    std::uint64_t cores = 0;               // of the processor; 0: unknown
    std::vector<double> times{};           // of the samples, in seconds since 1970, like the times of steps
    std::vector<machine_series> series{};  // each as long as `times`

    [[nodiscard]] bool empty() const noexcept { return times.empty(); }
    // Null where there is none of that name.
    [[nodiscard]] machine_series const* find(std::string_view name) const noexcept;
    // Mean over all samples; 0 where unknown.
    [[nodiscard]] double mean_of(std::string_view name) const noexcept;
    // Index of the sample that covers a moment: the first taken at or after it. times.size() where there is none.
    [[nodiscard]] std::size_t sample_at(double time) const noexcept;
};

// Empty where nothing was sampled.
[[nodiscard]] machine_profile machine_of(trial const& run, worker which);

// As text: one line for each of the usual metrics. Empty without samples.
[[nodiscard]] std::string describe(machine_profile const& it);
// What was unusual between two moments: "others had 60 % of the processor". Empty where nothing was.
[[nodiscard]] std::string unusual_between(machine_profile const& it, double from, double to);

// A summary of durations in seconds. Quantiles are nearest rank.
struct duration_summary {
    std::uint64_t count = 0;                           // how often
    double sum = 0, median = 0, p99 = 0, longest = 0;  // seconds; 0 where count is 0

    [[nodiscard]] double mean() const noexcept { return count > 0 ? sum / static_cast<double>(count) : 0; }  // seconds
};

// A section of the steps of a mode, as `watch.section` named it.
struct section_profile {
    std::string path{};        // "forward/conv": conv within forward
    duration_summary spent{};  // over the steps that had it
    double share = 0;          // of the time of all steps of the mode
    bool of_kernels = false;   // a device took it for the kernels of the section, beside what the processor did

    // The last part of its path, and whether it is of kernels.
    [[nodiscard]] std::string label() const;
    // It is not nested in another section.
    [[nodiscard]] bool is_outer() const noexcept { return path.find('/') == std::string::npos; }
};

// A step that took more than twice the median and was 5 robust standard deviations above it (step_time_outlier's
// limits). With the section that exceeded its own median most, if there are sections, and what the record has around
// it.
struct slow_step {
    step_id step{};         // which
    double seconds = 0;     // from the close before it to its own
    std::string section{};  // empty: no sections, or not in one
    double beyond = 0;      // the seconds by which the section exceeded its median
    std::string beside{};   // "behind eval(40)", "a finding of non_finite", "others had 60 % of the processor"
};

struct mode_profile {  // the steps of one mode of a worker
    spotter::mode mode{};
    duration_summary steps{};                 // from the close before to their own; without the first of each attempt
    double inside = 0;                        // share of their sum between begin and close: 0 to 1
    double named = 0;                         // share in outer sections, without those of kernels
    double kernels = 0;                       // share in outer sections of kernels; 0: none was measured
    std::vector<section_profile> sections{};  // outer ones, largest first, each followed by the sections in it
    std::vector<slow_step> slow{};            // the ten longest
    std::uint64_t slow_steps = 0;             // number of all slow steps
};

struct worker_profile {
    std::uint32_t worker = 0;           // its number
    std::vector<mode_profile> modes{};  // those with timed steps
    machine_profile machine{};          // meanwhile, if it was sampled
};

struct run_profile {                        // where the time of a run went
    std::vector<worker_profile> workers{};  // in the order of their numbers
    std::string verdict{};                  // what a step consists of or waits for, and what to do about it
};

// Reads the times of all steps, their scalars `time/...` and the samples of the machine. Without times in the record,
// modes have no steps.
[[nodiscard]] run_profile profile_of(trial const& run);

// As text: a table for each mode, slow steps, the verdict.
[[nodiscard]] std::string describe(run_profile const& it);

}  // namespace spotter::inline SPOTTER_ABI
