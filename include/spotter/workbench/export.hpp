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

// Where a text goes, piece by piece; an error ends the writing, and is what the writer returns.
using text_sink = std::function<error(std::string_view piece)>;

// Quoted where RFC 4180 asks for it: a comma, a quote (then doubled), a line's end. What is no UTF-8 stands as \xff. A
// text that a spreadsheet would take for a formula (it begins with = + - @, a tab or a line's end) gets an apostrophe
// in front, which makes a text of it there.
[[nodiscard]] std::string csv_field(std::string_view text);

// The shortest digits that read back as the same double; nan, inf and -inf, which pandas and R read.
[[nodiscard]] std::string csv_number(double const& value);

// One column: a statistic of a tensor.
struct csv_series {
    std::string name{};
    statistic which = mean;  // of the series that `name` is
    std::string title{};     // of the column; "name:statistic" where empty
};

// Hands each line with its final \n to `put`: step,mode,index,time,seconds and a column each series; of a run of
// several workers `worker` is the first column, and the rows of each follow those of the one before. One row for each
// closed step that `when` (a policy; empty: always) has, and at which any series is known: `step` counts all closed
// steps of the worker, whatever their mode; `time` is when the writer met its close, in seconds since 1970, and
// `seconds` how long it took from the close before it; what is unknown is left empty, and what cannot be read is NA,
// and told in `unreadable` as "title@mode:index". Of a step that was closed twice the latest, of several observations
// in it the last: what track::stat says.
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

// Hands each line with its final \n to `put`, for what the run holds and was not told yet: {"name", "step", "mode",
// "index", "time"} as in the columns of CSV, `worker` in a run of several, then `value` of a number, `statistic` and
// `value` of a tensor, `text` of a text, or `severity`, `rule` and `text` of a finding. A scalar between steps has no
// step, mode and index. NaN and infinities are "nan", "inf", "-inf"; of values that cannot be read there is
// `unreadable`, true; integers have all their digits, which a reader that takes every number for a double loses beyond
// 2^53. In the order of the record, each worker's after the other; every closing, that of a step which is closed again
// later, too.
class json_lines_writer {
public:
    explicit json_lines_writer(text_sink put, export_choice choice = {});
    json_lines_writer(json_lines_writer const&) = delete;
    json_lines_writer& operator=(json_lines_writer const&) = delete;
    ~json_lines_writer();

    // errc::replaced where the trial is another run now: nothing of that is written.
    [[nodiscard]] error advance(trial const& run);
    [[nodiscard]] export_counts const& counts() const noexcept;  // of all workers, so far

private:
    std::unique_ptr<detail::json_lines_state> its_;
};

// Hands the pieces of one file to `put`. Topics are /train/loss, /eval/loss, of several workers /worker-1/train/loss;
// messages are JSON: {"step", "value"} of a number, {"step", "l2", ...} of a tensor's statistics, {"step", "text"},
// each with its schema; findings are of foxglove.Log at /findings. NaN and infinities are null, and counted in
// export_counts::left_out. A scalar between steps has no "step". Times are when steps were closed. `counts` is added
// to.
[[nodiscard]] error write_mcap(trial const& run, export_choice const& choice, text_sink const& put,
                               export_counts& counts);

// Hands the pieces of one JSON document in Chrome's trace event format to `put`. A process is a worker, a thread a
// mode; a step lasts from the close before it to its own, by the clock of the thread that trained (in an older record,
// which has no such times, it is an instant); its sections are slices in it, in order, each as long as all it took in
// the step; a counter is a number, a statistic of a tensor, or what was sampled of the machine beside the run; a
// finding is an instant. Times are microseconds since the run began. NaN and infinities are left out, and counted in
// export_counts::left_out. `counts` is added to.
[[nodiscard]] error write_trace(trial const& run, export_choice const& choice, text_sink const& put,
                                export_counts& counts);

// The same as packets of Perfetto (protocol buffers), in nanoseconds since the run began: for runs whose JSON a browser
// does not take.
[[nodiscard]] error write_perfetto(trial const& run, export_choice const& choice, text_sink const& put,
                                   export_counts& counts);

// Prometheus' exposition format 0.0.4, or OpenMetrics 1.0, whose families of counters have other names and whose text
// has an end.
enum class metrics_text : std::uint8_t { prometheus, openmetrics };

// The page of a run, without times: a scrape gives them. Metrics: spotter_status (1 of the status that holds),
// spotter_step and spotter_last_step_time_seconds, spotter_step_duration_seconds (of the last),
// spotter_step_seconds_sum and _count, spotter_steps_total, spotter_findings_total, spotter_dropped_total,
// spotter_unreadable_total, spotter_value of a number (NaN where the last one cannot be read) and spotter_statistic of
// a tensor. Labels: run, worker, mode, name, statistic.
class prometheus_page {
public:
    // `title` is the label run.
    explicit prometheus_page(std::string_view title, export_choice choice = {},
                             metrics_text kind = metrics_text::prometheus);
    prometheus_page(prometheus_page const&) = delete;
    prometheus_page& operator=(prometheus_page const&) = delete;
    ~prometheus_page();

    // Takes in what was closed since the last call, and gives the whole text. Of the run that the trial is now: where
    // another has taken its place, of that one alone.
    [[nodiscard]] std::string text(trial const& run);
    [[nodiscard]] export_counts const& counts() const noexcept;  // so far

private:
    std::unique_ptr<detail::prometheus_state> its_;
};

// One column of what is known of the points that TensorBoard's embedding projector shows.
struct point_labels {
    std::string title{};               // of the column
    std::vector<std::string> words{};  // one a point; fewer: the rest is empty
};

// A tensor whose first axis counts the points; the others together are the dimensions. Empty where there are fewer than
// two axes. What is not finite is written as 0, and counted in `replaced`: one NaN would keep the projector from
// drawing anything.
[[nodiscard]] std::string projector_points(tensor_ref const& tensor, std::uint64_t& replaced);

// One line a point; a title line where there are several columns, as the projector wants it.
[[nodiscard]] std::string projector_labels(std::vector<point_labels> const& columns, std::size_t points);

// One embedding of projector_config.pbtxt; paths are relative to that file, `labels` may be empty.
[[nodiscard]] std::string projector_entry(std::string_view name, std::string_view points, std::string_view labels);

// An array under its key, for as long as the call that it is handed to.
struct recorded_array {
    std::string const& key;    // in the file; no other has it
    tensor_ref const& view;    // what is in it
    std::uint64_t values = 0;  // recorded ones that are in it; 0 of one that says of which steps another one is
};

// The values of a run as arrays under names: what .npz and .safetensors hold. Numbers of one name are one array a mode:
// `name@mode` with one axis, in the order of their steps' closing, and behind it `name@mode:steps`, the index of each
// (u64). Every other value is an array of its own, `name@mode:index`, as is a number of another type than the first of
// its name and mode. Of one step (export_choice::step) every value is one, under its name alone. In a run of several
// workers names stand behind "worker-1/".
class recorded_arrays {
public:
    // All must outlive it; of `names` those that the choice has.
    recorded_arrays(trial const& run, export_choice const& choice, std::vector<std::string> const& names)
        : run_{run}, choice_{choice}, names_{names} {}

    // How many values there are, or more: some may be superseded, or not chosen.
    [[nodiscard]] std::uint64_t count() const;

    // Hands each to `take`, in the order of the names; the first error ends it. One tensor is in memory at a time, or
    // the numbers of a name. errc: no_payload where none of what was chosen kept its values; as of track::at. The same
    // each time.
    [[nodiscard]] error each(std::function<error(recorded_array const&)> const& take);

    // "name@mode:index" of those that cannot be read, as `each` met them last.
    [[nodiscard]] std::vector<std::string> const& damaged() const noexcept { return damaged_; }

private:
    trial const& run_;
    export_choice const& choice_;
    std::vector<std::string> const& names_;
    std::vector<std::string> damaged_{};
};

}  // namespace spotter::inline SPOTTER_ABI
