// SPDX-License-Identifier: Apache-2.0
// Trial (L4): one worker's record and how it stands: its status, which steps it has decided, how long it has been
// silent.
#pragma once

#include <spotter/format/worker_set.hpp>
#include <spotter/trial/index.hpp>
#include <spotter/trial/step_ranges.hpp>

namespace spotter::inline SPOTTER_ABI {

// running: a live process writes it. finished: closed normally. failed: ended by an exception or hook.fail(). died: the
// writer is gone without a word.
enum class run_status : std::uint8_t { running, finished, failed, died };

[[nodiscard]] constexpr std::string_view name_of(run_status status) noexcept {
    constexpr std::string_view names[] = {"running", "finished", "failed", "died"};
    return names[static_cast<std::size_t>(status)];
}

// Of several workers the run takes the worst: died, then failed, then running, then finished.
[[nodiscard]] constexpr run_status worst_of(run_status a, run_status b) noexcept {
    constexpr auto badness = [](run_status each) { return each == run_status::finished ? -1 : static_cast<int>(each); };
    return badness(b) > badness(a) ? b : a;
}

// present: closed. absent: the run has gone past it, or is over, without it. pending: it may still come.
enum class step_state : std::uint8_t { present, absent, pending };

// One of several threads, processes or ranks of a run, by its number: `worker{2}`.
struct worker {
    std::uint32_t number = 0;  // from 0

    friend constexpr bool operator==(worker, worker) noexcept = default;
};

// What a set of sidecars says of a worker.
struct told_worker {
    set_worker who{};                  // its number, and how its record ended
    set_segment last{};                // the last of its segments
    std::vector<merged_side> sides{};  // its sidecars
};

// A snapshot like the trial that it belongs to.
class worker_reader {
public:
    // `folder` is this worker's own. Whose it is stands in the record; until that is read it is `number`. `unpacker`
    // must outlive it.
    worker_reader(std::uint32_t number, std::string_view folder, file_system& files, payload_unpacker& unpacker)
        : number_{number}, index_{folder, files, unpacker} {}
    // One that a set of sidecars speaks of: its record is opened once it is asked for. The sidecars must outlive the
    // reader.
    worker_reader(told_worker told, std::string_view folder, file_system& files, payload_unpacker& unpacker);

    // Takes in what was written meanwhile. After an error everything read so far still holds. What a set says is kept
    // for as long as the folder shows no other end of the record.
    [[nodiscard]] error refresh();

    // Whose record it is.
    [[nodiscard]] std::uint32_t number() const noexcept { return number_ == 0 ? index_.worker() : number_; }
    // The worker's folder.
    [[nodiscard]] std::string const& path() const noexcept { return index_.path(); }
    // The record; opened here where it was only told of.
    [[nodiscard]] worker_index const& index() const noexcept {
        if (told_) { const_cast<worker_reader*>(this)->open(); }  // the trial is one thread's
        return index_;
    }
    // How many the run was told to have; 0: it was not told.
    [[nodiscard]] std::uint32_t expected_workers() const noexcept;
    // Its record ends where the set says, by the sizes of its files alone; only before it is opened.
    [[nodiscard]] bool is_as_told() const noexcept;
    // As of the last refresh.
    [[nodiscard]] run_status status() const noexcept { return status_; }
    // Somebody writes it.
    [[nodiscard]] bool running() const noexcept { return status_ == run_status::running; }
    [[nodiscard]] error const& trouble() const noexcept { return trouble_; }  // of the last refresh
    // There is a record, and nothing of it could ever be read.
    [[nodiscard]] bool unreadable() const noexcept { return !told_ && trouble_ && index_.is_empty(); }
    // This worker closed the step.
    [[nodiscard]] bool closed(step_id step) const { return ranges().contains(step); }
    // It closed a later index of that mode.
    [[nodiscard]] bool past(step_id step) const { return ranges().any_after(step); }

    // Decided once this worker closed it or a later index of its mode, or is over.
    [[nodiscard]] step_state state(step_id step) const;
    // Seconds from the last sign of the loop (begun, closed a step, ended) to the last refresh. Heartbeats do not
    // count: the writer sends them also while the loop hangs.
    [[nodiscard]] double age() const;

private:
    [[nodiscard]] step_ranges const& ranges() const;
    void open() noexcept;
    void look_at_clock() noexcept;

    std::uint32_t number_;
    worker_index index_;
    std::optional<told_worker> told_{};  // until the record is opened
    mutable step_ranges closed_{};
    mutable std::size_t ranged_ = 0;  // closings that `closed_` knows
    error trouble_{};
    run_status status_ = run_status::running;
    double looked_at_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/trial/worker_reader.ipp>
#endif
