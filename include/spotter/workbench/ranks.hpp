// SPDX-License-Identifier: Apache-2.0
// Workbench: after a hang or a kill: where each worker of a run is, who never came, and who was slow. Link
// spotter::workbench.
#pragma once

#include <spotter/trial/trial.hpp>

#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

struct rank_state {            // one worker, as its record says
    std::uint32_t worker = 0;  // its number
    run_status status{};       // running, finished, failed or died
    std::string why{};         // of a failed one
    bool has_closed = false;   // a training step; then
    step_id last{};            // the latest one in the order of the record,
    double closed_at = 0;      // when it was closed, in seconds since 1970
    bool is_open = false;      // it was in a step that it never closed; then
    step_id open{};            // which,
    std::string reached{};     // and the tensor that it showed last in it
    std::string section{};     // the section that it was in behind its last close, where it stayed there or its process
                               // ended there;
    double in_section = 0;     // for so many seconds at least
    // Seconds since 1970: the last close, or of a killed one's ring in shared memory when its writer last lived.
    double last_sign = 0;
    double silent = 0;        // seconds since it gave the last sign, at the end of the record or now
    double step_seconds = 0;  // median from begin to close, of the last training steps: its own work, without the wait
                              // for others in between; 0: not known
    double relative = 1;      // the best rank's over its own: 1 is as fast as the best
    double own = 1;           // its own best stretch's over that of its last steps: below 1 it has become slower
};

struct ranks_report {                         // all workers of a run
    std::vector<rank_state> ranks{};          // in the order of their numbers
    std::vector<std::uint32_t> never_came{};  // of those that the run was told to have
    std::vector<std::string> sentences{};     // who it was, the first being the likeliest; none where all is well
};

constexpr double slow_rank = 0.7;    // of `relative` and of `own`: below it a rank is slow,
constexpr double short_step = 1e-4;  // unless its steps take no longer than that: seconds
[[nodiscard]] constexpr bool is_slow(rank_state const& it) noexcept {
    return it.step_seconds >= short_step && (it.relative < slow_rank || it.own < slow_rank);
}

// Reads the record as it is: what a killed rank's ring in shared memory holds is in it once `recover` has been there. A
// rank behind the others, and ranks that died, are told first; ranks that wait for them are as far as each other.
[[nodiscard]] ranks_report ranks_of(trial const& run);

// A line a rank, then the sentences.
[[nodiscard]] std::string describe(ranks_report const& it);

}  // namespace spotter::inline SPOTTER_ABI
