// SPDX-License-Identifier: Apache-2.0
// Record (L4): the writer of a run: takes what is in the ring into segments, and does what is to be done beside it.
#pragma once

#include <spotter/record/beside_task.hpp>
#include <spotter/record/control_file.hpp>
#include <spotter/record/folder.hpp>
#include <spotter/record/loop_place.hpp>
#include <spotter/record/ring_drain.hpp>
#include <spotter/record/ring_pages.hpp>
#include <spotter/record/shared_ring.hpp>
#include <spotter/record/sleeper.hpp>
#include <spotter/record/stop_file.hpp>

#include <atomic>
#include <thread>

namespace spotter::inline SPOTTER_ABI {

// Who takes what is in the ring. The training thread says it.
enum class writer_state : std::uint8_t {
    by_hand,   // the training thread, where it polls, flushes or finds the ring full
    asleep,    // a thread, woken once something is recorded
    awake,     // a thread, with something to write
    stopping,  // a thread, which ends once the ring is empty
};

// What the writer says of itself. It only gets worse.
enum class writer_health : std::uint8_t {
    well,
    troubled,  // something went wrong, and the writing goes on
    failed,    // nothing is written any more
};

// The parts of what is done beside the writing, in the order in which it is looked at. Each has its own interval.
struct writer_errands {
    stop_file stop;             // somebody asks the run to stop
    control_file control;       // or something else of it
    day_clock_watch day_clock;  // the time of day jumped
    loop_place place{};         // the loop stays in a section
    beside_task beside;         // options::beside
};

// The writer's side of a recording, with a thread of its own or without. What it has to say to the training thread goes
// through the atomics at the end. Nothing here throws: the one thing that can is the start of the thread; where it
// cannot be had, the training thread takes over.
class run_writer {
public:
    // All of it must outlive this.
    run_writer(file_system& files, open_run const& run, options const& choices, byte_ring& ring, ring_pages& pages,
               shared_ring const& shared) noexcept;
    run_writer(run_writer const&) = delete;
    run_writer& operator=(run_writer const&) = delete;
    ~run_writer() { end(); }

    // By the training thread, in this order.
    void outlives_process() noexcept { segments_.mark_from(0); }  // the ring does; before `start`
    // The first segment, and the thread where one is wanted. An error: there is none.
    [[nodiscard]] error start(run_place const& place, byte_view run_begin) noexcept;
    void settle() noexcept;  // ends the thread and takes what is in the ring
    // Everything into the files. Without a `run_end` where the run did not begin.
    void finish(byte_view run_end) noexcept;
    // Thread and tasks, of a recording that is given up.
    void end() noexcept;

    // By the training thread, at any time between.
    [[nodiscard]] bool has_thread() const noexcept {
        return state_.load(std::memory_order_relaxed) != writer_state::by_hand;
    }
    void wake() noexcept;  // something is recorded
    // The writer is to give back what it holds, as soon as there is nothing to take. Only a ring that outlives the
    // process has any. Asked once: a store at every look of a waiting producer would take the line away from the writer
    // again and again.
    void ask_for_room() noexcept;
    // Which flush the writer is to do, and whether it has.
    [[nodiscard]] std::uint64_t ask_for_flush() noexcept;
    // All that had been committed when it was asked for is in the file.
    [[nodiscard]] bool flushed(std::uint64_t wanted) const noexcept {
        return flush_done_.load(std::memory_order_acquire) >= wanted;
    }
    // With a flush that was asked for.
    [[nodiscard]] bool is_behind() const noexcept { return !flushed(flush_wanted_.load(std::memory_order_relaxed)); }
    // Nothing is written any more.
    [[nodiscard]] bool failed() const noexcept {
        return health_.load(std::memory_order_relaxed) == writer_health::failed;
    }
    // Bytes in files.
    [[nodiscard]] std::uint64_t written() const noexcept { return bytes_.load(std::memory_order_relaxed); }
    void report(sink_health& into) const noexcept;  // its part
    // Whose atomics the training thread reads.
    [[nodiscard]] writer_errands& errands() noexcept { return errands_; }
    [[nodiscard]] writer_errands const& errands() const noexcept { return errands_; }

    // By the training thread, where it is the writer (writer_state::by_hand).
    void poll() noexcept;
    void write_out() noexcept;                      // all that is in the ring, into the segment
    void make_room() noexcept;                      // the same, and its room
    void declare_apart(byte_view body) noexcept;    // a declaration, past the ring
    void gave_up(std::uint64_t position) noexcept;  // of the ring, all before it

private:
    static constexpr unsigned unused_microseconds = 100'000;  // as often as the stop file is looked for

    void take_all() noexcept {
        while (drain_.take()) {}
    }
    [[nodiscard]] error start_thread() noexcept;
    void stop_thread() noexcept;
    // A wish is looked at before the ring is: so once the ring was seen empty, all that was committed before the wish
    // is in the segment.
    void work() noexcept;
    void grant_wishes(std::uint64_t flush) noexcept;
    void rest(writer_state now, int& idle) noexcept;
    void look_around() noexcept;
    void look_at_control(std::uint64_t now) noexcept;
    void look_at_place(std::uint64_t now) noexcept;
    void publish() noexcept;
    void publish_trouble() noexcept;

    options const& choices_;
    path_text const& folder_;
    ring_pages& pages_;
    shared_ring const& shared_;
    segment_writer segments_;
    ring_drain drain_;
    writer_errands errands_;
    sleeper sleeper_;
    std::thread thread_;

    error trouble_{};  // once there is some, for ever the same
    std::atomic<writer_state> state_{writer_state::by_hand};
    std::atomic<writer_health> health_{writer_health::well};
    std::atomic<bool> room_wanted_{false};
    std::atomic<std::uint64_t> flush_wanted_{0};
    std::atomic<std::uint64_t> flush_done_{0};
    std::atomic<std::uint64_t> lost_{0};
    std::atomic<std::uint64_t> bytes_{0};
    std::atomic<std::uint64_t> peak_{0};
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/run_writer.ipp>
#endif
