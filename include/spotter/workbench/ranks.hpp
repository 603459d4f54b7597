// SPDX-License-Identifier: Apache-2.0
// Workbench: after a hang or a kill: where each worker of a run is, which ones never started, and which were slow. Link
// spotter::workbench.
#pragma once

#include <spotter/trial/trial.hpp>

#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

struct rank_state {            // one worker, as recorded
    std::uint32_t worker = 0;  // its number
    run_status status{};       // running, finished, failed or died
    std::string why{};         // of a failed one
    bool has_closed = false;   // it has closed a training step
    step_id last{};            // if so: the latest one, in the order of the record
    double closed_at = 0;      // when that was closed, in seconds since 1970
    bool is_open = false;      // it began a step and did not close it
    step_id open{};            // if so: that step
    std::string reached{};     // the tensor that it observed last in that step
    std::string section{};     // the section after its last close in which it stayed, or in which its process ended
    double in_section = 0;     // seconds in that section, at least
    // Seconds since 1970: the last close. For a killed worker with a ring in shared memory: when its writer was last
    // alive.
    double last_sign = 0;
    double silent = 0;        // seconds from the last sign to the end of the record, or to now
    double step_seconds = 0;  // median from begin to close, over the last training steps: its own work, without waiting
                              // for others between steps; 0: unknown
    double relative = 1;      // the best rank's step time divided by its own: 1 is as fast as the best
    double own = 1;           // its best median step time over its latest: below 1 it has become slower
};

struct ranks_report {
    std::vector<rank_state> ranks{};          // in the order of their numbers
    std::vector<std::uint32_t> never_came{};  // workers that the run should have and that never started
    std::vector<std::string> sentences{};     // the likely causes, most likely first; none where all is well
};

constexpr double slow_rank = 0.7;    // limit of `relative` and of `own` below which a rank is slow
constexpr double short_step = 1e-4;  // a rank with steps of at most this many seconds is never slow
[[nodiscard]] constexpr bool is_slow(rank_state const& it) noexcept {
    return it.step_seconds >= short_step && (it.relative < slow_rank || it.own < slow_rank);
}

// Reads the record as it is. What a killed rank's ring in shared memory holds is only in the record after `recover`.
// Ranks behind the others and ranks that died are reported first; ranks that wait for them are all at the same step.
[[nodiscard]] ranks_report ranks_of(trial const& run);

// One line for each rank, then the sentences.
[[nodiscard]] std::string describe(ranks_report const& it);

}  // namespace spotter::inline SPOTTER_ABI
