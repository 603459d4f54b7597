// SPDX-License-Identifier: Apache-2.0
// Command line, `serve`: a run's entry in the list of runs.
#pragma once

#include "../output.hpp"
#include "live_run.hpp"

#include <string>
#include <vector>

namespace spotter_tool::live {

// A loss or metric in one mode, with its current value.
struct outcome_now {
    std::string name{};
    spotter::mode in{};
    double value = 0;            // the latest one; may be NaN
    std::vector<double> line{};  // a few columns, for a small picture; NaN marks gaps
};

struct run_card {
    std::string status{};  // "running", "finished", "stopped", "failed", "died", "unreadable"
    std::string why{};     // for a run that did not end well
    bool over = false;
    std::uint64_t steps = 0;  // closes in any mode, of all workers
    std::uint32_t workers = 0, attempts = 0;
    double began = 0, last = 0;            // seconds since 1970; 0: unknown
    double age = 0;                        // seconds of silence of a running run, at the time `read`
    double read = 0;                       // seconds since 1970
    std::array<std::uint64_t, 3> found{};  // findings by severity, without repetitions
    std::string worst{};                   // the strongest in one line
    std::string lost{};                    // known damage, in one line
    std::vector<outcome_now> outcomes{};   // losses before metrics, evaluation first
    std::vector<std::pair<std::string, std::string>> settings{};  // recorded before its first step
};

// Reads the content of a card from the run, which the caller has locked.
[[nodiscard]] run_card card_of(live_run& from);

[[nodiscard]] json card_json(run_card const& it);

}  // namespace spotter_tool::live
