// SPDX-License-Identifier: Apache-2.0
// Trial (L4): a recorded run, finished or still being written, as a snapshot to ask questions of.
#pragma once

#include <spotter/file/posix.hpp>
#include <spotter/trial/joint_notes.hpp>
#include <spotter/trial/joint_track.hpp>
#include <spotter/trial/losses.hpp>

#include <algorithm>
#include <optional>

#include <time.h>

namespace spotter::inline SPOTTER_ABI {

// Which names: all that fulfil every field given. Unknown values give an empty list.
struct filter {
    std::optional<spotter::mode> mode{};
    std::optional<step_id> step{};
    std::string_view pattern{};  // a glob
    std::string_view collection{};
    std::optional<spotter::worker> worker{};
};

// Which steps of a run of several workers: those that any of them has closed, or those that each has, a worker that has not begun
// among them.
enum class closed_by : std::uint8_t { any, all };

// What reads from it does not change under the reader until `refresh` (or `wait`). One thread.
//
// A run of several workers (threads, processes, ranks) is read as one. Where a worker is named (`worker{2}`) it speaks of that one,
// errc::no_such_worker where there is none; otherwise of all: names and steps are the union, counts are sums, the status is the worst,
// and a value is the lowest worker's that holds it.
class trial {
public:
    // Whose records there are, ascending.
    [[nodiscard]] std::vector<std::uint32_t> workers() const {
        std::vector<std::uint32_t> found;
        for (auto const& each : readers()) { found.push_back(each->number()); }
        return found;
    }
    // How many workers the run was told to have (options::workers); 0 where it was not told.
    [[nodiscard]] std::uint32_t expected_workers() const noexcept { return list_->expected(); }

    // Names, sorted.
    [[nodiscard]] std::vector<std::string> names(filter const& which = {}) const {
        return detail::listed([&] {
            std::vector<std::string> found;
            for (auto const& each : readers()) {
                if (!which.worker || which.worker->number == each->number()) { add_names(each->index(), which, found); }
            }
            std::sort(found.begin(), found.end());
            found.erase(std::unique(found.begin(), found.end()), found.end());
            return found;
        });
    }
    [[nodiscard]] std::vector<std::string> names(std::string_view pattern) const {
        return names(filter{.pattern = pattern});
    }

    [[nodiscard]] track operator[](std::string_view name) const {
        track found{{first(), name, &readers()}, awaiting_};
        for (std::size_t i = 1; i < readers().size(); ++i) { found.add({*readers()[i], name, &readers()}); }
        return found;
    }

    // Closed steps at which anything was kept, each once, in order of their first closing. By default those that any worker has
    // closed: what is read at a step is one worker's, some do what others do not (evaluation on one rank), and one that died early
    // hides nothing. Those that all have closed are what can be compared between workers.
    [[nodiscard]] std::vector<step_id> steps(closed_by whom = closed_by::any) const {
        return steps_if([](step_id) { return true; }, whom);
    }
    [[nodiscard]] std::vector<step_id> steps(mode which, closed_by whom = closed_by::any) const {
        return steps_if([=](step_id step) { return step.mode == which; }, whom);
    }
    template <policy Policy>
    [[nodiscard]] std::vector<step_id> steps(Policy const& which, closed_by whom = closed_by::any) const {
        return steps_if([&](step_id step) { return which(step); }, whom);
    }
    // Empty for an unknown worker.
    [[nodiscard]] std::vector<step_id> steps(worker which) const {
        step_merge found{false};
        if (worker_reader const* const each = list_->find(which.number)) {
            for (closed_step const& closed : each->index().steps()) {
                if (closed.holds) { found.add(closed); }
            }
        }
        return found.take();
    }
    [[nodiscard]] std::vector<mode> modes() const {
        std::vector<mode> found;
        for (mode const each : {mode::train, mode::eval, mode::predict}) {
            if (!steps(each).empty()) { found.push_back(each); }
        }
        return found;
    }
    [[nodiscard]] std::vector<recorded_collection> const& collections() const noexcept {
        return joint_ ? joint_->collections : index().collections();
    }

    // The place of a step among all closed steps of a worker, whatever their mode; and back. Of several workers the lowest that has it.
    [[nodiscard]] result<std::uint64_t> ordinal(step_id step) const {
        for (auto const& each : readers()) {
            step_list const& closed = each->index().steps();
            for (std::size_t i = each->closed(step) ? closed.size() : 0; i > 0; --i) {
                if (closed[i - 1].step == step) { return closed[i - 1].ordinal; }
            }
        }
        return {errc::no_such_step, "no such step was closed"};
    }
    [[nodiscard]] result<step_id> step_at(std::uint64_t ordinal) const {
        for (auto const& each : readers()) {
            if (auto const closed = each->index().step_of(ordinal)) { return closed->step; }
        }
        return {errc::no_such_step, "no step with this ordinal was closed"};
    }

    // A worker has decided a step once it closed it or a later index of its mode, or is over. Of several: pending while one is
    // undecided, else present if any closed it. Costs the same however long the run is.
    [[nodiscard]] step_state state(step_id step) const {
        bool present = false, pending = awaiting_;
        for (auto const& each : readers()) {
            step_state const its = each->state(step);
            present = present || its == step_state::present;
            pending = pending || its == step_state::pending;
        }
        return pending ? step_state::pending : present ? step_state::present : step_state::absent;
    }
    [[nodiscard]] result<step_state> state(step_id step, worker which) const {
        worker_reader const* const each = list_->find(which.number);
        if (each == nullptr) { return no_such(which); }
        return each->state(step);
    }

    // Of several workers the worst: died, failed, running, finished. A worker that the run was told of (options::workers) and that has not
    // begun counts as running while another one is, then as died.
    [[nodiscard]] run_status status() const noexcept { return status_; }
    [[nodiscard]] result<run_status> status(worker which) const noexcept {
        worker_reader const* const each = list_->find(which.number);
        if (each == nullptr) { return no_such(which); }
        return each->status();
    }
    // Nothing more will be written, unless the run is resumed. Not the same as status() != running: a worker may have failed while
    // another goes on.
    [[nodiscard]] bool over() const noexcept {
        return std::none_of(readers().begin(), readers().end(), [](auto const& each) { return each->running(); });
    }
    // Seconds of silence when the trial was last refreshed: since the loop last began, closed a step or ended. A loop that hangs is
    // running with an age that grows. Of several workers the longest silence of those that run; when none does, the shortest.
    [[nodiscard]] double age() const {
        bool const live = !over();
        double found = live ? 0 : first().age();
        for (auto const& each : readers()) {
            if (live && each->running()) { found = (std::max)(found, each->age()); }
            if (!live) { found = (std::min)(found, each->age()); }
        }
        return found;
    }
    [[nodiscard]] result<double> age(worker which) const {
        worker_reader const* const each = list_->find(which.number);
        if (each == nullptr) { return no_such(which); }
        return each->age();
    }
    // Of a failed run the reason; of a finished one the first thing that went wrong, if any did. Of several workers it names which.
    [[nodiscard]] std::string_view why_ended() const noexcept {
        return joint_ ? std::string_view{joint_->why_ended} : index().ended_why();
    }
    // Closings, of any mode, whether anything was kept or not; of all workers together.
    [[nodiscard]] std::uint64_t closed_steps() const {
        std::uint64_t all = 0;
        for (auto const& each : readers()) { all += each->index().steps().size(); }
        return all;
    }
    [[nodiscard]] std::uint32_t attempts() const noexcept {
        std::uint32_t most = 0;
        for (auto const& each : readers()) { most = (std::max)(most, each->index().attempts()); }
        return most;
    }
    // Steps that were begun and never closed, of which something was kept: the last of each attempt that was left by an exception or
    // killed, and of a run that goes on the one that it is at. `at`, `stat` and `names(filter{.step = ...})` read them like others;
    // steps() leaves them out. By worker, then in order.
    [[nodiscard]] std::vector<open_step> open_steps() const {
        std::vector<open_step> found;
        for (auto const& each : readers()) {
            auto const& its = each->index().open_steps();
            found.insert(found.end(), its.begin(), its.end());
        }
        return found;
    }
    // What the rules of the hooks found while they ran; finding::worker says whose. Texts live as long as the trial.
    [[nodiscard]] std::vector<finding> const& findings() const noexcept {
        return joint_ ? joint_->findings : index().findings();
    }
    // How much each rule of the hooks could judge; known once the run has ended.
    [[nodiscard]] std::vector<recorded_coverage> const& coverages() const noexcept {
        return joint_ ? joint_->coverages : index().coverages();
    }
    // Bytes that could not be read. Values in them are errc::corrupt or absent; everything else is sound, of the same worker and of
    // the others. A worker that cannot be read at all is its folder and 0 bytes.
    [[nodiscard]] std::vector<damaged_place> const& damage() const {
        return joint_ ? joint_->damage : index().damage();
    }
    // What is known to be gone, or never to have come in: damage(), steps that are missing, ends of segments that were cut off, drops.
    // Looks at the folder as it is now, at the heads of the segments and the ends of the sidecars.
    [[nodiscard]] run_losses losses() const {
        run_losses all;
        for (auto const& each : readers()) {
            detail::folder_losses folder = detail::look_for_losses(list_->files(), each->index().path());
            all.steps += detail::count_lost_steps(each->index(), folder);
            if (folder.trouble) { all.trouble = folder.trouble; }
            all.ends.insert(all.ends.end(), std::make_move_iterator(folder.ends.begin()),
                            std::make_move_iterator(folder.ends.end()));
        }
        for (damaged_place const& each : damage()) { ++all.places, all.bytes += each.bytes; }
        all.dropped = totals().dropped, all.thinned = totals().thinned, all.closes = totals().closes_lost;
        return all;
    }
    [[nodiscard]] run_totals const& totals() const noexcept { return joint_ ? joint_->totals : index().totals(); }
    [[nodiscard]] std::string_view path() const noexcept { return list_->path(); }

    // Takes in what was written meanwhile, by workers that began meanwhile too. After an error everything read so far still holds;
    // of several workers it is an error only if none can be read, otherwise damage(). But errc::replaced, which is told once: another
    // run has taken the place of the one that was read, or has been cut below what was read of it. The trial is that one now, from its
    // beginning, and nothing that was read before is part of it. Tracks and texts of the run before, and its room on the disk, stay until
    // it is replaced once more.
    [[nodiscard]] error refresh() {
        return detail::answered([&]() -> error {
            error const why = list_->refresh();
            settle();
            return why;
        });
    }

    // Refreshes until the step is decided, but no longer than `patience`: nothing where it is present; else no_such_step (the run
    // has gone past it), no_more_data (the run is over), not_yet (the time is up), or why refreshing failed (replaced, for one). Looks every 2 ms.
    [[nodiscard]] error wait(step_id step, std::chrono::milliseconds patience) {
        auto const end = std::chrono::steady_clock::now() + patience;
        for (;;) {
            if (error const why = refresh()) { return why; }
            step_state const now = state(step);
            if (now == step_state::present) { return {}; }
            if (now == step_state::absent) { return absence(step); }
            auto const left = end - std::chrono::steady_clock::now();
            if (left <= left.zero()) {
                return {errc::not_yet, "the step was not decided in time: wait again, or look at age()"};
            }
            auto const nap = (std::min)(std::chrono::nanoseconds{left}, std::chrono::nanoseconds{2'000'000});
            timespec const time{0, static_cast<long>(nap.count())};
            ::nanosleep(&time, nullptr);
        }
    }

    // How often that was told.
    [[nodiscard]] std::uint64_t replaced() const noexcept { return list_->replaced(); }

    // For replay and reports: the records by themselves, and that of the lowest worker.
    [[nodiscard]] std::vector<std::unique_ptr<worker_reader>> const& readers() const noexcept { return list_->all(); }
    [[nodiscard]] run_index const& index() const noexcept { return first().index(); }

    friend result<trial> open_trial(std::string_view path, file_system& files) noexcept;
    friend result<trial> open_trial(std::string_view path, worker only, file_system& files) noexcept;

private:
    trial(std::string_view path, file_system& files) : list_{std::make_unique<worker_list>(path, files)} {}

    [[nodiscard]] worker_reader const& first() const noexcept { return *readers().front(); }

    // What follows from all workers together.
    void settle() {
        if (readers().empty()) { return; }
        status_ = first().status();
        for (auto const& each : readers()) { status_ = worst_of(status_, each->status()); }
        bool const missing = list_->missing() > 0;
        awaiting_ = missing && !over();
        if (missing) { status_ = worst_of(status_, awaiting_ ? run_status::running : run_status::died); }
        if (readers().size() == 1 && !missing) { return joint_.reset(); }
        if (joint_ == nullptr) { joint_ = std::make_unique<joint_notes>(); }
        joint_->gather(*list_, status_);
    }
    [[nodiscard]] error absence(step_id step) const {
        for (auto const& each : readers()) {
            if (each->past(step)) { return {errc::no_such_step, "the run has gone past this step without it"}; }
        }
        return {errc::no_more_data, "the run is over and has no such step"};
    }
    [[nodiscard]] static error no_such(worker which) noexcept {
        error why{errc::no_such_worker, "the run has no worker "};
        why.what << which.number << ": run.workers() lists those it has";
        return why;
    }

    static void add_names(run_index const& from, filter const& which, std::vector<std::string>& found) {
        std::uint64_t members = ~std::uint64_t{0};
        if (!which.collection.empty()) { members = collection_bit(from, which.collection); }
        for (auto const& tensor : from.tensors()) {
            if (tensor->entries.empty()) { continue; }
            if (!which.collection.empty() && (tensor->info.collections & members) == 0) { continue; }
            if (!which.pattern.empty() && !glob{which.pattern}(tensor->name)) { continue; }
            bool const seen =
                (!which.mode && !which.step) ||
                std::any_of(tensor->entries.begin(), tensor->entries.end(), [&](track_entry const& entry) {
                    bool const right_mode = !which.mode || (!entry.loose && entry.step.mode == *which.mode);
                    return right_mode && (!which.step || (!entry.loose && entry.step == *which.step));
                });
            if (seen) { found.push_back(tensor->name); }
        }
    }
    [[nodiscard]] static std::uint64_t collection_bit(run_index const& from, std::string_view name) noexcept {
        auto const& all = from.collections();
        for (std::size_t i = 0; i < all.size() && i < 64; ++i) {
            if (all[i].name == name) { return std::uint64_t{1} << i; }
        }
        return 0;
    }
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
    [[nodiscard]] bool closed_by_all(step_id step) const {
        return list_->missing() == 0 &&
               std::all_of(readers().begin(), readers().end(), [=](auto const& each) { return each->closed(step); });
    }

    std::unique_ptr<worker_list> list_;
    std::unique_ptr<joint_notes> joint_{};  // null where one worker says it all
    run_status status_ = run_status::running;
    bool awaiting_ = false;  // a worker that the run was told of has not begun, and may still
};

// Opens a run folder, finished or still being written, with the records of all its workers; never waits. errc: not_a_run,
// unknown_version, io_error. A damaged or truncated record opens: what is whole can be read, trial::damage() lists the rest.
// `files` must outlive the trial.
[[nodiscard]] inline result<trial> open_trial(std::string_view path, file_system& files = system_files()) noexcept {
#if SPOTTER_EXCEPTIONS
    try {
#endif
        trial opened{path, files};
        if (error const why = opened.refresh()) { return why; }
        return opened;
#if SPOTTER_EXCEPTIONS
    } catch (...) { return {errc::out_of_memory, "no memory to open the run"}; }
#endif
}

// Opens the record of one worker of a run and no other; for worker 2 the same as the folder "path/worker-2". Also errc::no_such_worker.
[[nodiscard]] inline result<trial> open_trial(std::string_view path, worker only,
                                              file_system& files = system_files()) noexcept {
#if SPOTTER_EXCEPTIONS
    try {
#endif
        trial opened{path, files};
        error const why = opened.list_->open_only(only.number);
        if (why) { return why; }
        opened.settle();
        return opened;
#if SPOTTER_EXCEPTIONS
    } catch (...) { return {errc::out_of_memory, "no memory to open the run"}; }
#endif
}

}  // namespace spotter::inline SPOTTER_ABI
