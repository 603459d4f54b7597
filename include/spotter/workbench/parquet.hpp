// SPDX-License-Identifier: Apache-2.0
// Workbench: Parquet files, and a run as a Parquet table, for questions in SQL: a row for each observation, number,
// text and finding, of all workers. Link spotter::workbench. https://parquet.apache.org/docs/file-format
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

// Of a column: INT32, INT64, DOUBLE, or BYTE_ARRAY as UTF-8.
enum class parquet_type : std::uint8_t { i32, i64, f64, text };

struct parquet_column {  // as the schema has it
    std::string name{};
    parquet_type type = parquet_type::f64;  // of all its values
    bool may_be_missing = true;             // null where a row says nothing of it
};

namespace detail {
class parquet_table;
class parquet_run;
}  // namespace detail

// A table, row by row: put() what a row has, then end_row(); finish() in the end, without which nobody can read it.
// Bytes go to `to` as they come, a row group at a time; an error that it returns ends the writing, and is what finish()
// returns. Texts are kept once a row group, as a dictionary. The same rows give the same bytes. May throw where memory
// is exhausted. One thread.
class parquet_file {
public:
    static constexpr std::size_t group_rows = 1 << 17;  // rows of a group: what a reader skips by its statistics

    parquet_file(std::vector<parquet_column> columns, std::function<error(std::span<std::byte const>)> to);
    parquet_file(parquet_file&& other) noexcept;
    parquet_file& operator=(parquet_file&& other) noexcept;
    ~parquet_file();

    // Of the row at hand. A number goes into a column of numbers, a text into one of texts; of a column that is put
    // twice the first counts.
    void put(std::size_t column, std::int64_t value);
    void put(std::size_t column, double const& value);
    void put(std::size_t column, std::string_view value);
    // A column that must be there and was not put is 0, or the empty text.
    void end_row();
    [[nodiscard]] error finish();  // the last group and the footer; the first error there was

    [[nodiscard]] std::uint64_t rows() const noexcept;  // that were ended

private:
    std::unique_ptr<detail::parquet_table> its_;
};

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
    parquet_writer(parquet_choice choice, std::function<error(std::span<std::byte const>)> to);
    parquet_writer(parquet_writer&& other) noexcept;
    parquet_writer& operator=(parquet_writer&& other) noexcept;
    ~parquet_writer();

    // All that was recorded so far, each worker's after the other; once. Then finish().
    void add(trial const& run);
    [[nodiscard]] error finish();                                // the footer; the first error there was
    [[nodiscard]] export_counts const& counts() const noexcept;  // so far

private:
    std::unique_ptr<detail::parquet_run> its_;
};

}  // namespace spotter::inline SPOTTER_ABI
