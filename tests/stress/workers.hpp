// SPDX-License-Identifier: Apache-2.0
// Shared by stress tests: where a worker's record is, how much work suffices, and what must hold of every record.
#pragma once

#include <tests/trial/runs.hpp>

namespace spotter_test {

// Under ThreadSanitizer a quarter of the work finds the same races.
#if defined(__SANITIZE_THREAD__)
inline constexpr std::uint64_t slowness = 4;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr std::uint64_t slowness = 4;
#else
inline constexpr std::uint64_t slowness = 1;
#endif
#else
inline constexpr std::uint64_t slowness = 1;
#endif

inline std::string path_of_worker(std::string const& run, std::uint32_t worker) {
    return worker == 0 ? run : run + "/worker-" + std::to_string(worker);
}

// Opens the record of one worker alone.
inline spotter::trial open_worker(std::string const& run, std::uint32_t number) {
    auto opened = spotter::open_trial(run, spotter::worker{number});
    if (!opened) { FAIL(std::string{opened.error().what.view()}); }
    return std::move(*opened);
}

// The report of one worker's hook at its end.
struct worker_report {
    std::uint64_t steps = 0;    // begun and ended
    std::uint64_t came_in = 0;  // observations and scalars handed to the hook
    spotter::health_report health{};
    std::string path{};
};

// The counts are exact: every input was stored or dropped, and what was stored is in the record.
inline void check_accounts(worker_report const& reported, spotter::trial const& run) {
    INFO(reported.path);
    spotter::sink_health const& sink = reported.health.sink;
    CHECK(reported.health.good());
    CHECK(reported.health.steps == reported.steps);
    CHECK(sink.stored + sink.dropped == reported.came_in);
    CHECK(run.status() == spotter::run_status::finished);
    CHECK(run.damage().empty());
    CHECK((run.totals().stored == sink.stored && run.totals().dropped == sink.dropped &&
           run.totals().thinned == sink.thinned));
    CHECK(run.closed_steps() + run.totals().closes_lost == reported.steps);
    std::uint64_t entries = 0, without_values = 0;
    for (auto const& tensor : run.index().tensors()) {
        for (spotter::track_entry const& each : tensor->entries) {
            entries += 1;
            without_values += each.is_scalar || each.has_values ? 0 : 1;
        }
    }
    CHECK(entries == sink.stored);
    CHECK(without_values == sink.thinned);
}

}  // namespace spotter_test
