// SPDX-License-Identifier: Apache-2.0
// Command line, `export`: one export, and the formats that can perform it.
#pragma once

#include "../progress.hpp"
#include "../verbs.hpp"

#include <spotter/export/recorded_steps.hpp>
#include <spotter/trial.hpp>

#include <set>
#include <string>
#include <vector>

namespace spotter_tool {

struct written {
    std::vector<std::string> files{};
    std::uint64_t tensors = 0;
    std::uint64_t rows = 0;                        // for a table: lines; for other formats: values
    std::set<std::string, std::less<>> as_bits{};  // types that NumPy lacks
    std::uint64_t left_out = 0;                    // values that the format cannot express
    std::vector<std::string> damaged{};            // unreadable values, which were left out
};

// One of the chosen values.
struct item {
    std::string name{};
    spotter::step_id step{};
    std::uint32_t worker = 0;
    std::string title{};  // the name; in a run of several workers after "worker-1/"
};
[[nodiscard]] std::string key_of(item const& it);  // title@mode:index

struct export_job {
    export_options const& wanted;
    spotter::trial& run;
    spotter::export_choice choice{};
    std::vector<std::string> names{};  // chosen names that exist
    written done{};
    std::uint64_t bytes = 0;  // of the run's segments

    [[nodiscard]] spotter::track track_of(item const& it) const { return run[it.name].of(spotter::worker{it.worker}); }
    [[nodiscard]] bool to_output() const { return wanted.out == "-"; }
    // No bar where the data goes to the terminal, or while following a run, whose end is unknown.
    [[nodiscard]] bool shows_progress() const { return !wanted.follow && !(to_output() && is_terminal(STDOUT_FILENO)); }
    // A run that has recorded nothing, and lost nothing, exports as an empty file, unless names or a step were
    // requested.
    [[nodiscard]] bool is_empty() const {
        return wanted.names.empty() && !choice.step && run.names().empty() && run.damage().empty();
    }
    // Damaged values are left out; the others are still exported.
    [[nodiscard]] bool left_out(item const& it, spotter::recorded_value const& value) {
        if (value.error().code != spotter::errc::corrupt) { return false; }
        done.damaged.push_back(key_of(it));
        return true;
    }
    void take(spotter::export_counts const& counts) {
        done.rows += counts.values;
        done.left_out += counts.left_out;
        done.damaged.insert(done.damaged.end(), counts.damaged.begin(), counts.damaged.end());
    }
};

// Shows a progress bar during its lifetime, for formats that read all rows.
class export_progress {
public:
    explicit export_progress(export_job const& job)
        : bar_{"export", {job.bytes}, job.shows_progress()}, reading_{job.run, bar_} {}

private:
    progress bar_;
    counted_reading reading_;
};

// The existing values of the chosen tensors; errc::no_payload where there are none.
[[nodiscard]] spotter::error find_values(export_job const& job, std::vector<item>& items);

// A path part that is valid as a file name on any system: unusual characters become %XX, and so do leading dots.
[[nodiscard]] std::string file_name_of(std::string_view name);

// The first whose name is too long for a file, asked before any is written: a folder that was begun would stay.
[[nodiscard]] spotter::error too_long_for_files(std::vector<item> const& items);

// Waits between two refreshes of a followed run; true: refresh again.
[[nodiscard]] bool wait_for_more();

[[nodiscard]] spotter::error to_npy(export_job& job);
[[nodiscard]] spotter::error to_npz(export_job& job);
[[nodiscard]] spotter::error to_safetensors(export_job& job);
[[nodiscard]] spotter::error to_csv(export_job& job);
[[nodiscard]] spotter::error to_parquet(export_job& job);
[[nodiscard]] spotter::error to_json_lines(export_job& job);
[[nodiscard]] spotter::error to_mcap(export_job& job);
[[nodiscard]] spotter::error to_trace(export_job& job);
[[nodiscard]] spotter::error to_perfetto(export_job& job);
[[nodiscard]] spotter::error to_prometheus_text(export_job& job);
[[nodiscard]] spotter::error to_openmetrics(export_job& job);
[[nodiscard]] spotter::error to_tensorboard(export_job& job);
[[nodiscard]] spotter::error to_projector(export_job& job);

}  // namespace spotter_tool
