// SPDX-License-Identifier: Apache-2.0
// Record (L4): the writer of a run: moves the ring's entries to segments, and runs the tasks beside it.
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

// Who drains the ring; set by the training thread.
enum class writer_state : std::uint8_t {
    by_hand,   // the training thread, when it polls, flushes or finds the ring full
    asleep,    // a thread that sleeps until something is recorded
    awake,     // a thread that works
    stopping,  // a thread that ends once the ring is empty
};

// The writer's state, which only gets worse.
enum class writer_health : std::uint8_t {
    well,
    troubled,  // an error occurred, but writing goes on
    failed,    // nothing is written any more
};

// The tasks beside writing, in the order in which they are checked. Each has its own interval.
struct writer_errands {
    stop_file stop;             // stop requests
    control_file control;       // other requests
    day_clock_watch day_clock;  // jumps of the time of day
    loop_place place{};         // a loop that stays in a section
    beside_task beside;         // options::beside
};

// The writer's side of a recording, with or without its own thread. It communicates with the training thread through
// the atomics at the end. Nothing throws. Only starting the thread could: if that fails, the training thread does the
// work.
class run_writer {
public:
    // The arguments must outlive this.
    run_writer(file_system& files, open_run const& run, options const& choices, byte_ring& ring, ring_pages& pages,
               shared_ring const& shared) noexcept;
    run_writer(run_writer const&) = delete;
    run_writer& operator=(run_writer const&) = delete;
    ~run_writer() { end(); }

    // Called by the training thread, in this order.
    void outlives_process() noexcept { segments_.mark_from(0); }  // the ring outlives the process; before `start`
    // Creates the first segment, and starts the thread if wanted. Error: there is no thread.
    [[nodiscard]] error start(run_place const& place, byte_view run_begin) noexcept;
    void stop_and_drain() noexcept;  // ends the thread and drains the ring
    // Writes everything to the files. Without `run_end` if the run did not begin.
    void finish(byte_view run_end) noexcept;
    // Ends thread and tasks of an abandoned recording.
    void end() noexcept;

    // Called by the training thread, at any time in between.
    [[nodiscard]] bool has_thread() const noexcept {
        return state_.load(std::memory_order_relaxed) != writer_state::by_hand;
    }
    void wake() noexcept;  // something is recorded
    // Asks the writer to free what it holds as soon as the ring has no entry to take; only a ring that outlives the
    // process holds entries. Stored once: a store at every check of a waiting producer would keep taking the cache line
    // from the writer.
    void ask_for_room() noexcept;
    // Requests a flush; returns its number.
    [[nodiscard]] std::uint64_t ask_for_flush() noexcept;
    // All entries committed before that request are in the file.
    [[nodiscard]] bool flushed(std::uint64_t wanted) const noexcept {
        return flush_done_.load(std::memory_order_acquire) >= wanted;
    }
    // A requested flush is not done yet.
    [[nodiscard]] bool is_behind() const noexcept { return !flushed(flush_wanted_.load(std::memory_order_relaxed)); }
    // Nothing is written any more.
    [[nodiscard]] bool failed() const noexcept {
        return health_.load(std::memory_order_relaxed) == writer_health::failed;
    }
    // Bytes in files.
    [[nodiscard]] std::uint64_t written() const noexcept { return bytes_.load(std::memory_order_relaxed); }
    void report(sink_health& into) const noexcept;  // adds its part
    // The training thread reads their atomics.
    [[nodiscard]] writer_errands& errands() noexcept { return errands_; }
    [[nodiscard]] writer_errands const& errands() const noexcept { return errands_; }

    // Called by the training thread if it is the writer (writer_state::by_hand).
    void poll() noexcept;
    void write_out() noexcept;                      // writes the content of the ring to the segment
    void make_room() noexcept;                      // the same, and frees it
    void declare_apart(byte_view body) noexcept;    // writes a declaration, bypassing the ring
    void gave_up(std::uint64_t position) noexcept;  // everything before this ring position was given up

private:
    static constexpr unsigned unused_microseconds = 100'000;  // the interval of the stop file

    void take_all() noexcept {
        while (drain_.take()) {}
    }
    [[nodiscard]] error start_thread() noexcept;
    void stop_thread() noexcept;
    // Requests are read before the ring. So once the ring was seen empty, everything committed before the request is in
    // the segment.
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

    error trouble_{};  // never changes once set
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
