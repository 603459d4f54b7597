// SPDX-License-Identifier: Apache-2.0
// Trial (L4): a recorded run, finished or still being written, as a snapshot for queries.
#pragma once

#include <spotter/file/system.hpp>
#include <spotter/format/layout.hpp>
#include <spotter/trial/joint_track.hpp>
#include <spotter/trial/losses.hpp>
#include <spotter/trial/step_list.hpp>
#include <spotter/trial/worker_list.hpp>

#include <algorithm>
#include <chrono>
#include <optional>

namespace spotter::inline SPOTTER_ABI {

// Selects the names that match every given field. Unknown values match nothing.
struct filter {
    std::optional<spotter::mode> mode{};      // observed in this mode
    std::optional<step_id> step{};            // observed at this step, closed or open
    std::string_view pattern{};               // a glob
    std::string_view collection{};            // a member of that collection
    std::optional<spotter::worker> worker{};  // recorded by this worker
};

// For a run of several workers: steps that any worker has closed, or those that each has, including workers that have
// not begun.
enum class closed_by : std::uint8_t { any, all };

// A recorded run, as a snapshot: its content does not change until `refresh` (or `wait`). Not thread-safe.
//
// A run of several workers (threads, processes, ranks) is read as one. A call with a worker (`worker{2}`) reads only
// that one, errc::no_such_worker if it does not exist. Otherwise names and steps are the union, counts are sums, the
// status is the worst, and a value comes from the lowest worker that has it.
class trial {
public:
    trial() = default;
    trial(trial&&) = default;
    trial& operator=(trial&&) = default;
    // Not copyable. If a trial is copied, the compiler's error shows the following line.
    trial(trial const&) = delete;  // spotter: a trial is not copied: open_trial(path).value() or `trial& run = *opened`
    ~trial() = default;

    // The numbers of the recorded workers, ascending.
    [[nodiscard]] std::vector<std::uint32_t> workers() const;
    // The planned number of workers (options::workers); 0: not specified.
    [[nodiscard]] std::uint32_t expected_workers() const noexcept { return list_->expected(); }

    // Names, sorted.
    [[nodiscard]] std::vector<std::string> names(filter const& which = {}) const;
    [[nodiscard]] std::vector<std::string> names(std::string_view pattern) const;

    // A tensor by name, known or not. It reads through this trial, which must outlive it.
    [[nodiscard]] track operator[](std::string_view name) const;

    // Closed steps at which something was kept, each once, in the order of their first close. closed_by::any is the
    // default: a read at a step uses one worker, some workers have steps that others lack (evaluation on one rank), and
    // a worker that died early hides nothing. Use closed_by::all to compare workers.
    [[nodiscard]] std::vector<step_id> steps(closed_by whom = closed_by::any) const;
    [[nodiscard]] std::vector<step_id> steps(mode which, closed_by whom = closed_by::any) const;
    template <policy Policy>
    [[nodiscard]] std::vector<step_id> steps(Policy const& which, closed_by whom = closed_by::any) const {
        return steps_if([&](step_id step) { return which(step); }, whom);
    }
    // Empty for an unknown worker.
    [[nodiscard]] std::vector<step_id> steps(worker which) const;
    // The durations of the closed steps, by the training thread's clock: of all workers, each worker's in order. Empty
    // if the record has no such times; they are not estimated from the writer's times.
    [[nodiscard]] std::vector<timed_step> times() const;
    [[nodiscard]] std::vector<timed_step> times(worker which) const;
    // The modes of the closed steps.
    [[nodiscard]] std::vector<mode> modes() const;
    // The collections of the plan, by name and in words.
    [[nodiscard]] std::vector<recorded_collection> const& collections() const;

    // The number of a step among all closed steps of a worker, in any mode; from the lowest worker that has it.
    [[nodiscard]] result<std::uint64_t> ordinal(step_id step) const;
    // The inverse of `ordinal`.
    [[nodiscard]] result<step_id> step_at(std::uint64_t ordinal) const;

    // A worker has decided a step once it has closed that step or a later index of its mode, or is over. For several
    // workers: pending while one is undecided, otherwise present if any closed it. The cost does not depend on the
    // run's length.
    [[nodiscard]] step_state state(step_id step) const;
    [[nodiscard]] result<step_state> state(step_id step, worker which) const;

    // For several workers the worst: died, failed, running, finished. A planned worker (options::workers) that has not
    // begun counts as running while another one is running, and as died afterwards.
    [[nodiscard]] run_status status() const noexcept { return status_; }
    [[nodiscard]] result<run_status> status(worker which) const noexcept;
    // Nothing more will be written, unless the run is resumed. Not the same as status() != running: a worker may have
    // failed while another goes on.
    [[nodiscard]] bool over() const noexcept;
    // Seconds from the last sign of the loop (begin, close of a step, end) to the last refresh. A loop that hangs is
    // running with a growing age. Before the first sign: seconds since the first refresh. For several workers: the
    // largest age of the running ones; if none is running, the smallest.
    [[nodiscard]] double age() const;
    [[nodiscard]] result<double> age(worker which) const;
    // Of a failed run the reason; of a finished one its first error, if any. With several workers the text names the
    // worker.
    [[nodiscard]] std::string_view why_ended() const;
    // The number of closes in any mode, with or without kept data; of all workers.
    [[nodiscard]] std::uint64_t closed_steps() const;
    // The number of attempts: 1, plus one for each resume; of several workers the largest.
    [[nodiscard]] std::uint32_t attempts() const noexcept;
    // Steps with data that were begun and never closed: the last step of each attempt that an exception or a kill
    // ended, and the current step of a running one. `at`, `stat` and `names(filter{.step = ...})` read them like other
    // steps; steps() leaves them out. Sorted by worker, then in order.
    [[nodiscard]] std::vector<open_step> open_steps() const;
    // The findings of the hooks' rules; finding::worker is the worker. Texts live as long as the trial.
    [[nodiscard]] std::vector<finding> const& findings() const;
    // What each rule of the hooks could judge; known once the run has ended.
    [[nodiscard]] std::vector<recorded_coverage> const& coverages() const;
    // Unreadable bytes. Values in them are errc::corrupt or absent; everything else is intact, of the same worker and
    // of others. A worker that cannot be read at all is listed as its folder with 0 bytes.
    [[nodiscard]] std::vector<damaged_place> const& damage() const;
    // Known losses: damage(), missing steps, truncated ends of segments, drops. Examines the folder in its current
    // state: the heads of the segments and the ends of the sidecars.
    [[nodiscard]] run_losses losses() const;
    // Totals of all attempts and workers.
    [[nodiscard]] run_totals const& totals() const;
    // The path that was given.
    [[nodiscard]] std::string_view path() const noexcept { return list_->given(); }
    // The absolute path.
    [[nodiscard]] std::string_view folder() const noexcept { return list_->path(); }
    // The build and machine of the program, from the lowest worker's newest attempt: lines of "key value". Empty for
    // records of older versions.
    [[nodiscard]] std::string const& environment() const noexcept { return index().environment(); }

    // Reads what was written since, including by new workers. After an error everything read so far is still valid.
    // With several workers it fails only if none can be read; otherwise see damage(). errc::replaced is returned once:
    // another run has replaced the one that was read, or the run was truncated below what was read. The trial then
    // reads the new run from its beginning. Tracks and texts of the former run, and its disk space, stay until the next
    // replacement.
    [[nodiscard]] error refresh();

    // Refreshes until the step is decided, at most for `patience`; looks every 2 ms. No error if the step is present;
    // otherwise no_such_step (the run has gone past it), no_more_data (the run is over), not_yet (the time is up), or
    // the error of refresh (such as replaced).
    [[nodiscard]] error wait(step_id step, std::chrono::milliseconds patience);

    // How often refresh returned errc::replaced.
    [[nodiscard]] std::uint64_t replaced() const noexcept { return list_->replaced(); }

    // For replay and reports: the records of the workers.
    [[nodiscard]] std::vector<std::unique_ptr<worker_reader>> const& readers() const noexcept { return list_->all(); }
    // The lowest worker's.
    [[nodiscard]] worker_index const& index() const noexcept { return first().index(); }

    friend result<trial> open_trial(std::string_view path, file_system& files) noexcept;
    friend result<trial> open_trial(std::string_view path, worker only, file_system& files) noexcept;

private:
    [[nodiscard]] static result<trial> open(std::string_view path, worker const* only, file_system& files) noexcept;
    trial(std::string_view path, file_system& files) : list_{std::make_unique<worker_list>(path, files)} {}

    [[nodiscard]] worker_reader const& first() const noexcept { return *readers().front(); }

    [[nodiscard]] run_losses all_losses() const;
    // Derives what depends on all workers.
    void update_status();
    [[nodiscard]] joint_notes const& joint() const;
    [[nodiscard]] error absence(step_id step) const;
    [[nodiscard]] static error no_such(worker which) noexcept;

    static void add_times(worker_reader const& from, std::vector<timed_step>& found);
    static void add_names(worker_index const& from, filter const& which, std::vector<std::string>& found);
    [[nodiscard]] static bool has_any(recorded_tensor const& tensor, filter const& which);
    [[nodiscard]] static std::uint64_t collection_bit(worker_index const& from, std::string_view name) noexcept;
    template <class Admit>
    [[nodiscard]] std::vector<step_id> steps_if(Admit const& admit, closed_by whom) const {
        return detail::listed([&] {
            step_merge found{readers().size() > 1};
            bool const all = whom == closed_by::all && (readers().size() > 1 || list_->missing() > 0);
            for (auto const& each : readers()) {
                for (closed_step const& closed : each->index().steps()) {
                    if (closed.holds && admit(closed.step) && (!all || closed_by_all(closed.step))) {
                        found.add(closed);
                    }
                }
            }
            return found.take();
        });
    }
    [[nodiscard]] bool closed_by_all(step_id step) const;

    std::unique_ptr<worker_list> list_;
    bool several_ = false;  // several workers, or a planned one has not begun
    // For several workers; stored, because references to it are returned.
    struct joint_state {
        joint_notes notes{};
        std::vector<damaged_place> damage{};
        bool has_notes = false, has_damage = false;  // computed since the last refresh
    };
    std::unique_ptr<joint_state> joint_{};
    run_status status_ = run_status::running;
    bool awaiting_ = false;  // a planned worker has not begun, and still may
};

// Opens a run folder, finished or still being written, with the records of all its workers; never waits. errc:
// not_a_run, unknown_version, io_error. A damaged or truncated record opens: the intact part can be read, and
// trial::damage() lists the rest. `files` must outlive the trial.
[[nodiscard]] result<trial> open_trial(std::string_view path, file_system& files = system_files()) noexcept;

namespace detail {

// `files`; if that is the default, the file system of the path.
[[nodiscard]] result<file_system*> files_of(std::string_view path, file_system& files) noexcept;

}  // namespace detail

// Opens the record of one worker only; for worker 2 the same as the folder "path/worker-2". Also errc::no_such_worker.
[[nodiscard]] result<trial> open_trial(std::string_view path, worker only,
                                       file_system& files = system_files()) noexcept;

// The samples of one worker, from the local file system; errc::not_a_run if there are none. A sample is a step of
// mode::predict.
[[nodiscard]] inline result<trial> open_samples(trial const& run, worker of) noexcept {
    text<24> own{"worker-"};
    own << of.number;
    // The run may have been opened by that worker's folder.
    bool const is_there = of.number == 0 || run.folder().ends_with(own.view());
    path_text const folder = is_there ? path_text{run.folder(), layout::system_name}
                                      : path_text{path_text{run.folder(), own.view()}, layout::system_name};
    return open_trial(folder);
}

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/trial/trial.ipp>
#endif
