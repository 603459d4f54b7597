// SPDX-License-Identifier: Apache-2.0
// Workbench: runs in the formats of other programs: CSV, JSON lines, MCAP, time lines, Prometheus, embeddings, arrays.
// Link spotter::workbench. NumPy's files are in npy.hpp, tables for SQL in parquet.hpp.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/core/step.hpp>
#include <spotter/core/tensor_ref.hpp>
#include <spotter/export/choice.hpp>
#include <spotter/stat/statistic.hpp>
#include <spotter/trial/trial.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// Receives a text piece by piece. If it returns an error, the writer stops and returns that error.
using text_sink = std::function<error(std::string_view piece)>;

// Quotes where RFC 4180 requires it: for a comma, a quote (which is doubled) or a line end. Bytes that are not UTF-8
// are written as \xff. A text that a spreadsheet would take for a formula (it begins with = + - @, a tab or a line end)
// gets a leading apostrophe, which marks it as a text there.
[[nodiscard]] std::string csv_field(std::string_view text);

// The shortest digits that read back as the same double; nan, inf and -inf, as pandas and R read them.
[[nodiscard]] std::string csv_number(double const& value);

// One column: a statistic of a tensor.
struct csv_series {
    std::string name{};
    statistic which = mean;  // of the tensor `name`
    std::string title{};     // of the column; empty: "name:statistic"
};

// Passes each line with its final \n to `put`: step,mode,index,time,seconds and one column for each series. In a run of
// several workers `worker` is the first column, and each worker's rows follow those of the one before. There is one row
// for each closed step that `when` (a policy; empty: every step) admits and at which a series is known. `step` counts
// all closed steps of the worker, in any mode. `time` is when the writer received the close, in seconds since 1970;
// `seconds` is the time since the close before. Unknown values are empty. Unreadable values are NA, and are listed in
// `unreadable` as "title@mode:index". If a step was closed twice, the last close counts, and of several observations
// the last one, as in track::stat.
[[nodiscard]] error write_csv(trial const& run, std::vector<csv_series> const& series,
                              std::function<bool(step_id)> const& when, text_sink const& put,
                              std::vector<std::string>* unreadable = nullptr);

// The same as one text.
[[nodiscard]] std::string to_csv(trial const& run, std::vector<csv_series> const& series,
                                 std::function<bool(step_id)> const& when = {});

namespace detail {
class json_lines_state;
class prometheus_state;
}  // namespace detail

// Passes each line with its final \n to `put`, for everything in the run that it has not written before: {"name",
// "step", "mode", "index", "time"} as in the columns of CSV, `worker` in a run of several, then `value` of a number,
// `statistic` and `value` of a tensor, `text` of a text, or `severity`, `rule` and `text` of a finding. A scalar
// between steps has no step, mode and index. NaN and infinities are "nan", "inf", "-inf". Unreadable values have
// `unreadable`: true instead. Integers have all their digits; readers that parse numbers as doubles lose precision
// beyond 2^53. Lines are in the order of the record, one worker after the other. Every close is written, also that of a
// step that is closed again later.
class json_lines_writer {
public:
    explicit json_lines_writer(text_sink put, export_choice choice = {});
    json_lines_writer(json_lines_writer const&) = delete;
    json_lines_writer& operator=(json_lines_writer const&) = delete;
    ~json_lines_writer();

    // errc::replaced where the trial has become another run; then nothing of that run is written.
    [[nodiscard]] error advance(trial const& run);
    [[nodiscard]] export_counts const& counts() const noexcept;  // of all workers, so far

private:
    std::unique_ptr<detail::json_lines_state> its_;
};

// Passes the pieces of one file to `put`. Topics are /train/loss, /eval/loss, with several workers
// /worker-1/train/loss. Messages are JSON, each with its schema: {"step", "value"} for a number, {"step", "l2", ...}
// for a tensor's statistics, {"step", "text"}; findings are of type foxglove.Log, at /findings. NaN and infinities are
// null, and counted in export_counts::left_out. A scalar between steps has no "step". Times are those of the closes.
// Adds to `counts`.
[[nodiscard]] error write_mcap(trial const& run, export_choice const& choice, text_sink const& put,
                               export_counts& counts);

// Passes the pieces of one JSON document in Chrome's trace event format to `put`. A process is a worker, a thread is a
// mode. A step lasts from the close before it to its own, by the clock of the training thread (older records have no
// such times; there it is an instant). Its sections are consecutive slices in it, each as long as all of its time in
// the step. Numbers, statistics of tensors and samples of the machine are counters; findings are instants. Times are
// microseconds since the run began. NaN and infinities are left out, and counted in export_counts::left_out. Adds to
// `counts`.
[[nodiscard]] error write_trace(trial const& run, export_choice const& choice, text_sink const& put,
                                export_counts& counts);

// The same as Perfetto packets (protocol buffers), in nanoseconds since the run began: for runs whose JSON is too large
// for a browser.
[[nodiscard]] error write_perfetto(trial const& run, export_choice const& choice, text_sink const& put,
                                   export_counts& counts);

// Prometheus' exposition format 0.0.4, or OpenMetrics 1.0. In OpenMetrics families of counters are named differently,
// and the text has an end marker.
enum class metrics_text : std::uint8_t { prometheus, openmetrics };

// The metrics page of a run, without times, since a scrape has its own. Metrics: spotter_status (1 for the current
// status), spotter_step and spotter_last_step_time_seconds, spotter_step_duration_seconds (of the last step),
// spotter_step_seconds_sum and _count, spotter_steps_total, spotter_findings_total, spotter_dropped_total,
// spotter_unreadable_total, spotter_value of a number (NaN where the last one is unreadable) and spotter_statistic of a
// tensor. Labels: run, worker, mode, name, statistic.
class prometheus_page {
public:
    // `title` is the value of the label `run`.
    explicit prometheus_page(std::string_view title, export_choice choice = {},
                             metrics_text kind = metrics_text::prometheus);
    prometheus_page(prometheus_page const&) = delete;
    prometheus_page& operator=(prometheus_page const&) = delete;
    ~prometheus_page();

    // Adds what was closed since the last call, and returns the whole text. If another run has taken the place of the
    // trial's run, the text is of the new run alone.
    [[nodiscard]] std::string text(trial const& run);
    [[nodiscard]] export_counts const& counts() const noexcept;  // so far

private:
    std::unique_ptr<detail::prometheus_state> its_;
};

// One column of labels for the points in TensorBoard's embedding projector.
struct point_labels {
    std::string title{};               // of the column
    std::vector<std::string> words{};  // one for each point; missing ones are empty
};

// The points of a tensor: its first axis counts the points, all others together are the dimensions. Empty where there
// are fewer than two axes. Values that are not finite are written as 0 and counted in `replaced`, since the projector
// draws nothing if there is a NaN.
[[nodiscard]] std::string projector_points(tensor_ref const& tensor, std::uint64_t& replaced);

// One line for each point; with several columns also a title line, as the projector requires.
[[nodiscard]] std::string projector_labels(std::vector<point_labels> const& columns, std::size_t points);

// One entry for projector_config.pbtxt. Paths are relative to that file; `labels` may be empty.
[[nodiscard]] std::string projector_entry(std::string_view name, std::string_view points, std::string_view labels);

// An array and its key. Valid during the call to which it is passed.
struct recorded_array {
    std::string const& key;    // unique in the file
    tensor_ref const& view;    // its values
    std::uint64_t values = 0;  // recorded values in it; 0 for an array with the step indices of another one
};

// The values of a run as named arrays, as .npz and .safetensors hold them. Numbers of one name are one array for each
// mode: `name@mode`, in the order in which steps were closed, followed by `name@mode:steps`, the index of each (u64).
// Every other value is an array of its own, `name@mode:index`, and so is a number of another type than the first of its
// name and mode. For a single step (export_choice::step) every value is an array of its own, under its plain name. In a
// run of several workers names begin with "worker-1/".
class recorded_arrays {
public:
    // All arguments must outlive it. Of `names` it takes those that the choice admits.
    recorded_arrays(trial const& run, export_choice const& choice, std::vector<std::string> const& names)
        : run_{run}, choice_{choice}, names_{names} {}

    // An upper bound of the number of values: some may be superseded or not chosen.
    [[nodiscard]] std::uint64_t count() const;

    // Passes each array to `take`, in the order of names, and stops at the first error. Holds one tensor at a time, or
    // the numbers of one name. errc: no_payload where nothing chosen has recorded values; those of track::at. Repeated
    // calls give the same.
    [[nodiscard]] error each(std::function<error(recorded_array const&)> const& take);

    // "name@mode:index" of the unreadable values that the last `each` found.
    [[nodiscard]] std::vector<std::string> const& damaged() const noexcept { return damaged_; }

private:
    trial const& run_;
    export_choice const& choice_;
    std::vector<std::string> const& names_;
    std::vector<std::string> damaged_{};
};

}  // namespace spotter::inline SPOTTER_ABI
