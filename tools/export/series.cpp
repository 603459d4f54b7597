// SPDX-License-Identifier: Apache-2.0
// Command line, `export`: series as text: CSV, JSON lines, a trace, Prometheus.
#include "../folders.hpp"
#include "../new_file.hpp"
#include "../output.hpp"
#include "job.hpp"

#include <spotter/export/follow_run.hpp>
#include <spotter/workbench/export.hpp>

#include <chrono>
#include <optional>
#include <thread>
#include <utility>

namespace spotter_tool {

namespace {

using namespace spotter;

// Standard output or a file.
class text_output {
public:
    explicit text_output(export_job& job) : job_{job} {
        if (!job.to_output()) { file_.emplace(job.wanted.out, job.wanted.force, job.wanted.follow); }
    }
    [[nodiscard]] error put(std::string_view piece) {
        if (file_) { return file_->put(piece); }
        say_as_is(piece);
        return {};
    }
    [[nodiscard]] error flush() {
        if (file_) { return file_->flush(); }
        if (std::fflush(stdout) != 0) { return {errc::unwritable, "standard output could not be written"}; }
        return {};
    }
    [[nodiscard]] error finish() {
        if (!file_) { return {}; }
        job_.done.files.push_back(job_.wanted.out);
        return file_->finish();
    }

private:
    export_job& job_;
    std::optional<new_file> file_{};
};

// What is written at once, by `write(run, choice, sink, counts)`.
template <class Write>
[[nodiscard]] error write_whole(export_job& job, Write const& write) {
    export_progress const bar{job};
    text_output out{job};
    export_counts counts;
    error why = write(job.run, job.choice, [&](std::string_view piece) { return out.put(piece); }, counts);
    if (!why) { why = out.finish(); }
    job.take(counts);
    return why;
}

[[nodiscard]] error to_metrics(export_job& job, metrics_text kind) {
    export_progress const bar{job};
    prometheus_page page{tidy(job.wanted.path), job.choice, kind};
    if (!job.wanted.follow) {
        text_output out{job};
        error why = out.put(page.text(job.run));
        if (!why) { why = out.finish(); }
        job.take(page.counts());
        return why;
    }
    // A collector may read at any time: each page replaces the previous one atomically.
    job.done.files.push_back(job.wanted.out);
    bool force = job.wanted.force;
    auto const take = [&] { return write_file(job.wanted.out, page.text(job.run), std::exchange(force, true)); };
    auto const wait = [] {
        std::this_thread::sleep_for(std::chrono::seconds{1});  // scrapes are not more frequent
        return true;
    };
    error const why = follow_run(job.run, take, wait);
    job.take(page.counts());
    return why;
}

}  // namespace

error to_csv(export_job& job) {
    std::vector<csv_series> series;
    std::vector<statistic> const means{mean};
    for (statistic const& which : job.choice.statistics.empty() ? means : job.choice.statistics) {
        for (std::string const& name : job.names) { series.push_back({name, which}); }
    }
    auto const when = [&](step_id each) { return job.choice.has_step(each); };
    progress bar{"export", {job.run.steps().size() * job.run.readers().size(), "rows"}, job.shows_progress()};
    text_output out{job};
    bool head = true;
    auto const put = [&](std::string_view line) {
        job.done.rows += head ? 0 : 1;
        bar.advance(head ? 0 : 1);
        head = false;
        return out.put(line);
    };
    error why = write_csv(job.run, series, when, put, &job.done.damaged);
    return why ? why : out.finish();
}

error to_json_lines(export_job& job) {
    export_progress const bar{job};
    text_output out{job};
    json_lines_writer writer{[&](std::string_view line) { return out.put(line); }, job.choice};
    auto const take = [&] {
        error why = writer.advance(job.run);
        return why ? why : out.flush();
    };
    error why = job.wanted.follow ? follow_run(job.run, take, wait_for_more) : take();
    if (!why) { why = out.finish(); }
    job.take(writer.counts());
    return why;
}

error to_mcap(export_job& job) { return write_whole(job, write_mcap); }
error to_perfetto(export_job& job) { return write_whole(job, write_perfetto); }

error to_trace(export_job& job) {
    constexpr std::uint64_t most = 100'000'000;  // bytes: about the limit of Perfetto's page for JSON
    std::uint64_t bytes = 0;
    auto const write = [&](trial const& run, export_choice const& choice, auto const& put, export_counts& counts) {
        auto const counted = [&](std::string_view piece) {
            bytes += piece.size();
            return put(piece);
        };
        return write_trace(run, choice, counted, counts);
    };
    error const why = write_whole(job, write);
    if (bytes > most) {
        say("spotter export: more JSON than Perfetto's page takes: .pftrace is the same in less than half of the "
            "bytes\n",
            stderr);
    }
    return why;
}

bool wait_for_more() {
    std::this_thread::sleep_for(std::chrono::milliseconds{200});
    return true;
}

error to_prometheus_text(export_job& job) { return to_metrics(job, metrics_text::prometheus); }
error to_openmetrics(export_job& job) { return to_metrics(job, metrics_text::openmetrics); }

}  // namespace spotter_tool
