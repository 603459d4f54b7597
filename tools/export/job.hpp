// SPDX-License-Identifier: Apache-2.0
// Command line, `export`: what one call of it has to do, and the formats that can do it.
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
    std::uint64_t rows = 0;                        // of a table: lines; of other formats values
    std::set<std::string, std::less<>> as_bits{};  // types for which NumPy has none
    std::uint64_t left_out = 0;                    // what the format cannot say
    std::vector<std::string> damaged{};            // values that could not be read and were left out
};

// A value of the chosen ones.
struct item {
    std::string name{};
    spotter::step_id step{};
    std::uint32_t worker = 0;
    std::string title{};  // the name; of a run of several workers behind "worker-1/"
};
[[nodiscard]] std::string key_of(item const& it);  // title@mode:index

struct export_job {
    export_options const& wanted;
    spotter::trial& run;
    spotter::export_choice choice{};
    std::vector<std::string> names{};  // those that were chosen, which there are
    written done{};
    std::uint64_t bytes = 0;  // of the run's segments

    [[nodiscard]] spotter::track track_of(item const& it) const { return run[it.name].of(spotter::worker{it.worker}); }
    [[nodiscard]] bool to_output() const { return wanted.out == "-"; }
    // A bar would stand among the data where that goes to the terminal, and nobody knows the end of what is followed.
    [[nodiscard]] bool shows_progress() const { return !wanted.follow && !(to_output() && is_terminal(STDOUT_FILENO)); }
    // A run of which nothing was kept, and nothing is lost, exports as nothing, unless something is asked for by its
    // name.
    [[nodiscard]] bool is_empty() const {
        return wanted.names.empty() && !choice.step && run.names().empty() && run.damage().empty();
    }
    // Damaged values do not keep the others from being exported.
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

// For a format that is made from all rows: a bar while it lives.
class export_progress {
public:
    explicit export_progress(export_job const& job)
        : bar_{"export", {job.bytes}, job.shows_progress()}, reading_{job.run, bar_} {}

private:
    progress bar_;
    counted_reading reading_;
};

// Which values of the chosen tensors there are; errc::no_payload where none.
[[nodiscard]] spotter::error find_values(export_job const& job, std::vector<item>& items);

// Path parts that are safe as a file's name on any system: anything unusual becomes %XX, and so do leading dots.
[[nodiscard]] std::string file_name_of(std::string_view name);

// A moment between two looks at a run that is followed; true: look again.
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
