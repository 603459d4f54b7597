// SPDX-License-Identifier: Apache-2.0
// Trial (L4): a recorded run, finished or still being written, as a snapshot to ask questions of.
#pragma once

#include <spotter/file/system.hpp>
#include <spotter/trial/joint_notes.hpp>
#include <spotter/trial/joint_track.hpp>
#include <spotter/trial/losses.hpp>
#include <spotter/trial/step_list.hpp>

#include <algorithm>
#include <chrono>
#include <optional>

namespace spotter::inline SPOTTER_ABI {

// Which names: all that fulfil every field given. Unknown values give an empty list.
struct filter {
    std::optional<spotter::mode> mode{};      // observed in this mode
    std::optional<step_id> step{};            // observed at this step, closed or left open
    std::string_view pattern{};               // a glob
    std::string_view collection{};            // members of the collection of that name
    std::optional<spotter::worker> worker{};  // recorded by this one
};

// Which steps of a run of several workers: those that any of them has closed, or those that each has, a worker that has
// not begun among them.
enum class closed_by : std::uint8_t { any, all };

// A recorded run, as a snapshot: what is read from it does not change until `refresh` (or `wait`). One thread.
//
// A run of several workers (threads, processes, ranks) is read as one. Where a worker is named (`worker{2}`) it speaks
// of that one, errc::no_such_worker where there is none; otherwise of all: names and steps are the union, counts are
// sums, the status is the worst, and a value is the lowest worker's that holds it.
class trial {
public:
    trial() = default;
    trial(trial&&) = default;
    trial& operator=(trial&&) = default;
    // One reader of a run. The compiler shows the line below where one is copied.
    trial(trial const&) = delete;  // spotter: a trial is not copied: open_trial(path).value() or `trial& run = *opened`
    ~trial() = default;

    // Whose records there are, ascending.
    [[nodiscard]] std::vector<std::uint32_t> workers() const;
    // How many workers the run was told to have (options::workers); 0 where it was not told.
    [[nodiscard]] std::uint32_t expected_workers() const noexcept { return list_->expected(); }

    // Names, sorted.
    [[nodiscard]] std::vector<std::string> names(filter const& which = {}) const;
    [[nodiscard]] std::vector<std::string> names(std::string_view pattern) const;

    // A tensor by its name, known or not; it reads through this trial, which must outlive it.
    [[nodiscard]] track operator[](std::string_view name) const;

    // Closed steps at which anything was kept, each once, in order of their first closing. By default those that any
    // worker has closed: what is read at a step is one worker's, some do what others do not (evaluation on one rank),
    // and one that died early hides nothing. Those that all have closed are what can be compared between workers.
    [[nodiscard]] std::vector<step_id> steps(closed_by whom = closed_by::any) const;
    [[nodiscard]] std::vector<step_id> steps(mode which, closed_by whom = closed_by::any) const;
    template <policy Policy>
    [[nodiscard]] std::vector<step_id> steps(Policy const& which, closed_by whom = closed_by::any) const {
        return steps_if([&](step_id step) { return which(step); }, whom);
    }
    // Empty for an unknown worker.
    [[nodiscard]] std::vector<step_id> steps(worker which) const;
    // How long the closed steps took, by the clock of the thread that trained: those of all workers, each worker's in
    // order. Empty where the record has none: nothing is made up from when the writer met them.
    [[nodiscard]] std::vector<timed_step> times() const;
    [[nodiscard]] std::vector<timed_step> times(worker which) const;
    // In which steps were closed.
    [[nodiscard]] std::vector<mode> modes() const;
    // What the plan kept, by name and in words.
    [[nodiscard]] std::vector<recorded_collection> const& collections() const;

    // The place of a step among all closed steps of a worker, whatever their mode. Of several workers the lowest that
    // has it.
    [[nodiscard]] result<std::uint64_t> ordinal(step_id step) const;
    // And back.
    [[nodiscard]] result<step_id> step_at(std::uint64_t ordinal) const;

    // A worker has decided a step once it closed it or a later index of its mode, or is over. Of several: pending while
    // one is undecided, else present if any closed it. Costs the same however long the run is.
    [[nodiscard]] step_state state(step_id step) const;
    [[nodiscard]] result<step_state> state(step_id step, worker which) const;

    // Of several workers the worst: died, failed, running, finished. A worker that the run was told of
    // (options::workers) and that has not begun counts as running while another one is, then as died.
    [[nodiscard]] run_status status() const noexcept { return status_; }
    [[nodiscard]] result<run_status> status(worker which) const noexcept;
    // Nothing more will be written, unless the run is resumed. Not the same as status() != running: a worker may have
    // failed while another goes on.
    [[nodiscard]] bool over() const noexcept;
    // Seconds of silence when the trial was last refreshed: since the loop last began, closed a step or ended. A loop
    // that hangs is running with an age that grows. Of several workers the longest silence of those that run; when none
    // does, the shortest.
    [[nodiscard]] double age() const;
    [[nodiscard]] result<double> age(worker which) const;
    // Of a failed run the reason; of a finished one the first thing that went wrong, if any did. Of several workers it
    // names which.
    [[nodiscard]] std::string_view why_ended() const;
    // Closings, of any mode, whether anything was kept or not; of all workers together.
    [[nodiscard]] std::uint64_t closed_steps() const;
    // How often the run was begun: 1, and one more each time that it was resumed; of several workers the most.
    [[nodiscard]] std::uint32_t attempts() const noexcept;
    // Steps that were begun and never closed, of which something was kept: the last of each attempt that was left by an
    // exception or killed, and of a run that goes on the one that it is at. `at`, `stat` and `names(filter{.step =
    // ...})` read them like others; steps() leaves them out. By worker, then in order.
    [[nodiscard]] std::vector<open_step> open_steps() const;
    // What the rules of the hooks found while they ran; finding::worker says whose. Texts live as long as the trial.
    [[nodiscard]] std::vector<finding> const& findings() const;
    // How much each rule of the hooks could judge; known once the run has ended.
    [[nodiscard]] std::vector<recorded_coverage> const& coverages() const;
    // Bytes that could not be read. Values in them are errc::corrupt or absent; everything else is sound, of the same
    // worker and of the others. A worker that cannot be read at all is its folder and 0 bytes.
    [[nodiscard]] std::vector<damaged_place> const& damage() const;
    // What is known to be gone, or never to have come in: damage(), steps that are missing, ends of segments that were
    // cut off, drops. Looks at the folder as it is now, at the heads of the segments and the ends of the sidecars.
    [[nodiscard]] run_losses losses() const;
    // Counts of the whole run, all attempts and workers together.
    [[nodiscard]] run_totals const& totals() const;
    // As it was opened.
    [[nodiscard]] std::string_view path() const noexcept { return list_->given(); }
    // The same place, whichever folder is the working one now.
    [[nodiscard]] std::string_view folder() const noexcept { return list_->path(); }
    // What the program was built with and runs on, of the lowest worker's newest attempt: lines of "key value". Empty
    // where the record is of a version that did not say it.
    [[nodiscard]] std::string const& environment() const noexcept { return index().environment(); }

    // Takes in what was written meanwhile, by workers that began meanwhile too. After an error everything read so far
    // still holds; of several workers it is an error only if none can be read, otherwise damage(). But errc::replaced,
    // which is told once: another run has taken the place of the one that was read, or has been cut below what was read
    // of it. The trial is that one now, from its beginning, and nothing that was read before is part of it. Tracks and
    // texts of the run before, and its room on the disk, stay until it is replaced once more.
    [[nodiscard]] error refresh();

    // Refreshes until the step is decided, but no longer than `patience`: nothing where it is present; else
    // no_such_step (the run has gone past it), no_more_data (the run is over), not_yet (the time is up), or why
    // refreshing failed (replaced, for one). Looks every 2 ms.
    [[nodiscard]] error wait(step_id step, std::chrono::milliseconds patience);

    // How often that was told.
    [[nodiscard]] std::uint64_t replaced() const noexcept { return list_->replaced(); }

    // For replay and reports: the records by themselves.
    [[nodiscard]] std::vector<std::unique_ptr<worker_reader>> const& readers() const noexcept { return list_->all(); }
    // That of the lowest worker.
    [[nodiscard]] worker_index const& index() const noexcept { return first().index(); }

    friend result<trial> open_trial(std::string_view path, file_system& files) noexcept;
    friend result<trial> open_trial(std::string_view path, worker only, file_system& files) noexcept;

private:
    trial(std::string_view path, file_system& files) : list_{std::make_unique<worker_list>(path, files)} {}

    [[nodiscard]] worker_reader const& first() const noexcept { return *readers().front(); }

    [[nodiscard]] run_losses all_losses() const;
    // What follows from all workers together.
    void settle();
    [[nodiscard]] joint_notes const& joint() const;
    [[nodiscard]] error absence(step_id step) const;
    [[nodiscard]] static error no_such(worker which) noexcept;

    static void add_times(worker_reader const& from, std::vector<timed_step>& found);
    static void add_names(worker_index const& from, filter const& which, std::vector<std::string>& found);
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
    bool several_ = false;  // more than one worker, or some that have not begun
    // Of several; in place, as they are given out by reference.
    struct joint_state {
        joint_notes notes{};
        std::vector<damaged_place> damage{};
        bool has_notes = false, has_damage = false;  // since the last refresh
    };
    std::unique_ptr<joint_state> joint_{};
    run_status status_ = run_status::running;
    bool awaiting_ = false;  // a worker that the run was told of has not begun, and may still
};

// Opens a run folder, finished or still being written, with the records of all its workers; never waits. errc:
// not_a_run, unknown_version, io_error. A damaged or truncated record opens: what is whole can be read, trial::damage()
// lists the rest. `files` must outlive the trial.
[[nodiscard]] result<trial> open_trial(std::string_view path, file_system& files = system_files()) noexcept;

namespace detail {

// The machine's stand for those that the path names.
[[nodiscard]] result<file_system*> files_of(std::string_view path, file_system& files) noexcept;

}  // namespace detail

// Opens the record of one worker of a run and no other; for worker 2 the same as the folder "path/worker-2". Also
// errc::no_such_worker.
[[nodiscard]] result<trial> open_trial(std::string_view path, worker only,
                                       file_system& files = system_files()) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/trial/trial.ipp>
#endif
