// SPDX-License-Identifier: Apache-2.0
// Export (L5): a run as a Parquet table, for questions in SQL: a row for each observation, number, text and finding, of
// all workers.
#pragma once

#include <spotter/export/parquet_file.hpp>
#include <spotter/export/recorded_steps.hpp>

namespace spotter::inline SPOTTER_ABI {

struct parquet_choice {    // what goes into a file
    export_choice what{};  // statistics: a column each; none: the usual ones
    std::string run{};     // the column `run`; empty: there is none, as in a data set that has a folder a run
};

// Columns: run, worker, attempt, step (closings of the worker counted), mode, index (of the step in its mode), time (in
// seconds since 1970), seconds (that the step took), name, role, value (of one number), text, a column each statistic,
// hash (64 bits, as a signed number), and of findings severity, rule, reason, measure, measured, threshold. What a row
// does not have is null: a finding has its tensor as `name` and no value; a scalar between steps no step, mode and
// index. Numbers are doubles; NaN and infinities stay what they are.
class parquet_writer {
public:
    // `to` takes the bytes of the file, piece by piece; an error that it returns ends the writing.
    parquet_writer(parquet_choice choice, std::function<error(byte_view)> to);

    // All that was recorded so far, each worker's after the other; once. Then finish().
    void add(trial const& run);
    [[nodiscard]] error finish() { return file_.finish(); }  // the footer; the first error there was
    [[nodiscard]] export_counts const& counts() const noexcept { return counts_; }  // so far

private:
    parquet_choice choice_;
    std::vector<statistic> statistics_{};
    parquet_file file_;
    export_counts counts_{};
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/export/parquet.ipp>
#endif
