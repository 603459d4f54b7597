// SPDX-License-Identifier: Apache-2.0
// Command line, `serve`: what the list of runs says of one.
#pragma once

#include "../output.hpp"
#include "live_run.hpp"

#include <string>
#include <vector>

namespace spotter_tool::live {

// A loss or metric in one mode, and where it stands.
struct outcome_now {
    std::string name{};
    spotter::mode in{};
    double value = 0;            // the last one; NaN where it ended so
    std::vector<double> line{};  // of a few columns, for a small picture; NaN where there is none
};

struct run_card {
    std::string status{};  // "running", "finished", "stopped", "failed", "died", "unreadable"
    std::string why{};     // of what did not end well
    bool over = false;
    std::uint64_t steps = 0;  // closings of any mode, of all workers
    std::uint32_t workers = 0, attempts = 0;
    double began = 0, last = 0;            // seconds since 1970; 0 where unknown
    double age = 0;                        // seconds of silence of a run that goes on, as of `read`
    double read = 0;                       // seconds since 1970
    std::array<std::uint64_t, 3> found{};  // findings by severity, repeated ones once
    std::string worst{};                   // the strongest in one line
    std::string lost{};                    // what is known to be damaged, in one line
    std::vector<outcome_now> outcomes{};   // losses before metrics, evaluation first
    std::vector<std::pair<std::string, std::string>> settings{};  // what it was told before its first step
};

// Reads what a card needs through the run, which is locked by the caller.
[[nodiscard]] run_card card_of(live_run& from);

[[nodiscard]] json card_json(run_card const& it);

}  // namespace spotter_tool::live
