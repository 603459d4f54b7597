// SPDX-License-Identifier: Apache-2.0
// Workbench: Parquet files, and a run as a Parquet table for SQL queries: one row for each observation, number, text
// and finding of all workers. Link spotter::workbench. https://parquet.apache.org/docs/file-format
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/export/choice.hpp>
#include <spotter/trial/trial.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// Type of a column: INT32, INT64, DOUBLE, or BYTE_ARRAY as UTF-8.
enum class parquet_type : std::uint8_t { i32, i64, f64, text };

struct parquet_column {  // a column of the schema
    std::string name{};
    parquet_type type = parquet_type::f64;  // of all its values
    bool may_be_missing = true;             // null where a row has no value for it
};

namespace detail {
class parquet_table;
class parquet_run;
}  // namespace detail

// A table, row by row: put() the values of a row, then end_row(); call finish() at the end, since the file cannot be
// read without its footer. Bytes go to `to`, one row group at a time. If `to` returns an error, writing stops and
// finish() returns that error. Texts are stored once in each row group, as a dictionary. The same rows give the same
// bytes. May throw where memory is exhausted. Use it in one thread.
class parquet_file {
public:
    static constexpr std::size_t group_rows = 1 << 17;  // rows of a group, which readers can skip by its statistics

    parquet_file(std::vector<parquet_column> columns, std::function<error(std::span<std::byte const>)> to);
    parquet_file(parquet_file&& other) noexcept;
    parquet_file& operator=(parquet_file&& other) noexcept;
    ~parquet_file();

    // Sets a value of the current row. A number must go into a column of numbers, a text into one of texts. If a column
    // is set twice, the first value counts.
    void put(std::size_t column, std::int64_t value);
    void put(std::size_t column, double const& value);
    void put(std::size_t column, std::string_view value);
    // Ends the row. A column that may not be missing and was not set is 0 or the empty text.
    void end_row();
    [[nodiscard]] error finish();  // writes the last group and the footer; returns the first error, if any

    [[nodiscard]] std::uint64_t rows() const noexcept;  // ended ones

private:
    std::unique_ptr<detail::parquet_table> its_;
};

struct parquet_choice {    // what to write
    export_choice what{};  // statistics: one column each; none: the usual ones
    std::string run{};     // the column `run`; empty: no such column, for a data set with one folder for each run
};

// Columns: run, worker, attempt, step (the number of the worker's closes), mode, index (of the step in its mode), time
// (in seconds since 1970), seconds (duration of the step), name, role, value (of one number), text, one column for each
// statistic, hash (64 bits, as a signed number), and for findings severity, rule, reason, measure, measured, threshold.
// Missing values are null. A finding has its tensor as `name` and no value; a scalar between steps has no step, mode
// and index. Numbers are doubles, NaN and infinities included.
class parquet_writer {
public:
    // `to` receives the bytes of the file, piece by piece; if it returns an error, writing stops.
    parquet_writer(parquet_choice choice, std::function<error(std::span<std::byte const>)> to);
    parquet_writer(parquet_writer&& other) noexcept;
    parquet_writer& operator=(parquet_writer&& other) noexcept;
    ~parquet_writer();

    // Adds everything recorded so far, one worker after the other. Call it once, then finish().
    void add(trial const& run);
    [[nodiscard]] error finish();                                // writes the footer; returns the first error, if any
    [[nodiscard]] export_counts const& counts() const noexcept;  // so far

private:
    std::unique_ptr<detail::parquet_run> its_;
};

}  // namespace spotter::inline SPOTTER_ABI
