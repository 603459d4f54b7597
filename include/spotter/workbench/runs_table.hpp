// SPDX-License-Identifier: Apache-2.0
// Workbench: a sweep as a table: one row for each run, with its hyperparameters, how it ended and its outcomes. Link
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
    // The rule that requested a stop: no train step was closed after its finding, unless `went_on`. A stop from outside
    // has the rule "stop_file", and `why` begins with the text of that file. Empty: no rule did.
    std::string stop_asked_by{};
    step_id stop_asked_at{};                        // the step of that finding
    bool went_on = false;                           // train steps were closed after it
    std::string why{};                              // that finding as text, or why the run failed
    std::uint64_t steps = 0;                        // number of train closes, of all workers together
    double seconds = 0;                             // from the beginning to the last close; 0: unknown
    std::vector<std::string> settings{};            // one for each of runs_table::settings; empty where not recorded
    std::vector<std::optional<double>> outcomes{};  // one for each of runs_table::outcomes

    // "finished", "stopped", "failed", "died", "running".
    [[nodiscard]] std::string_view ended() const noexcept;
};

// For several runs the settings are those in which they differ: numbers and texts that were recorded before the first
// step (`watch.scalar("lr", 0.1)`), and tensors of role::hyperparameter. The outcomes are the last values of losses and
// metrics, those of evaluation first.
struct runs_table {
    std::vector<std::string> settings{}, outcomes{};  // names of columns
    std::vector<runs_row> rows{};                     // one for each run, in the order given
};

// In the order given. Reads the rows of each run once (about 0.2 µs a scalar).
[[nodiscard]] runs_table table_of(std::span<trial const> runs);

// As CSV (RFC 4180): run, path, ended, stop_asked_by, stop_asked_at, why, steps, seconds, then one column for each
// setting and outcome.
[[nodiscard]] std::string to_csv(runs_table const& table);

}  // namespace spotter::inline SPOTTER_ABI
