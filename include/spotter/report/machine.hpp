// SPDX-License-Identifier: Apache-2.0
// Report (L5): what the machine did while a worker trained, as a system_sampler recorded it beside the run
// (ext/system.hpp).
#pragma once

#include <spotter/trial/trial.hpp>

#include <string>
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

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/report/machine.ipp>
#endif
