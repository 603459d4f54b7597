// SPDX-License-Identifier: Apache-2.0
// Workbench: a sweep as a table: a row a run, its hyperparameters beside how it ended and what came of it. Link
// spotter::workbench.
#pragma once

#include <spotter/core/step.hpp>
#include <spotter/trial/trial.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// One run. Texts are the row's own.
struct runs_row {
    std::string name{};                       // the last part of the path
    std::string path{};                       // as it was opened
    run_status status = run_status::running;  // of all its workers together
    // The rule that asked for a stop: behind its finding no train step was closed, or, where `went_on`, some were. A
    // stop from outside is of the rule "stop_file", and `why` begins with what that file said. Empty: none asked.
    std::string stop_asked_by{};
    step_id stop_asked_at{};                        // the step of that finding
    bool went_on = false;                           // train steps were closed behind it
    std::string why{};                              // of that finding, or why the run failed
    std::uint64_t steps = 0;                        // closings in train, of all workers together
    double seconds = 0;                             // from the beginning to the last closing; 0 where unknown
    std::vector<std::string> settings{};            // of each of runs_table::settings; empty where it was not told
    std::vector<std::optional<double>> outcomes{};  // of each of runs_table::outcomes; NaN where it ended so

    // "finished", "stopped", "failed", "died", "running".
    [[nodiscard]] std::string_view ended() const noexcept;
};

// Of several runs the settings are those in which they differ: numbers and texts that were told before the first step
// (`watch.scalar("lr", 0.1)`), and tensors of role::hyperparameter. The outcomes are the last values of losses and
// metrics, of evaluation first.
struct runs_table {
    std::vector<std::string> settings{}, outcomes{};  // names of columns
    std::vector<runs_row> rows{};                     // one a run, in the order given
};

// In the order given. Walks over the rows of each run once (about 0.2 µs a scalar).
[[nodiscard]] runs_table table_of(std::span<trial const> runs);

// As CSV (RFC 4180): run, path, ended, stop_asked_by, stop_asked_at, why, steps, seconds, then a column a setting and
// outcome.
[[nodiscard]] std::string to_csv(runs_table const& table);

}  // namespace spotter::inline SPOTTER_ABI
