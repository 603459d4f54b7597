// SPDX-License-Identifier: Apache-2.0
// Record (L4): the inside of a recorder that has its folder: the ring, who drains it, and what happens when it is full.
#pragma once

#include <spotter/file/system.hpp>
#include <spotter/hook/sections.hpp>
#include <spotter/hook/writer_task.hpp>
#include <spotter/record/control_file.hpp>
#include <spotter/record/folder.hpp>
#include <spotter/record/plain_rows.hpp>
#include <spotter/record/ring_drain.hpp>
#include <spotter/record/ring_pages.hpp>
#include <spotter/record/shared_ring.hpp>
#include <spotter/record/sleeper.hpp>
#include <spotter/record/stay_watch.hpp>
#include <spotter/record/stop_file.hpp>

#include <atomic>
#include <thread>

namespace spotter::inline SPOTTER_ABI {

// What makes room in a full ring, in place of a writer; false where it gives up.
struct room_maker {
    bool (*make)(void* context) noexcept = nullptr;  // asked by the training thread, again until there is room
    void* context = nullptr;
};

// Observations and scalars of a step that made room, which has its close unless it was still open.
struct discarded_step {
    std::uint64_t values = 0;  // that are gone with it
    bool closed = false;       // it had a close
};

// The training thread calls everything but `work`. What the writer has to say to it goes through the atomics at the
// end.
//
// Nothing here throws: memory comes from nothrow new, files from system calls, and the writer thread runs noexcept code
// only. The one thing that can is the start of that thread; where it cannot be had, the ring is drained by its
// producer.
class recorder_core {
public:
    recorder_core(file_system& files, open_run const& run, options const& choices) noexcept;
    recorder_core(recorder_core const&) = delete;
    recorder_core& operator=(recorder_core const&) = delete;
    ~recorder_core();

    [[nodiscard]] bool take_memory() noexcept;  // of the ring; once. False where there is none
    // Values on their way into memory that was claimed.
    void copy(std::byte* into, std::byte const* from, std::size_t bytes) const noexcept;
    // Before so many are copied, and before memory is claimed for them. How, is found out at the first that may go past
    // the caches.
    void choose_copying(std::size_t bytes) noexcept {
        if (!measured_ && bytes >= few_bytes) { measure_copying(); }
    }
    void start(byte_view run_begin) noexcept;  // the writer's thread too, where one is wanted
    // Ends the writer thread and takes what is in the ring; only `finish` may follow.
    void settle() noexcept;
    // All that is in the ring, into the segment. This and the next three where no thread drains it.
    void write_out() noexcept;
    // A declaration, past the ring.
    void declare_apart(byte_view body) noexcept;
    void when_full(room_maker const& make) noexcept;  // without a `make`: the ring is drained
    // Takes entries out up to the next close, for good.
    discarded_step discard_step() noexcept;
    // A tensor was declared: there is something to write, and its step ends with what is done once.
    void declared() noexcept;
    void end_step() noexcept;                 // behind its close
    void finish(byte_view run_end) noexcept;  // with everything in the files; nothing may follow
    // This process was forked from the one that records.
    [[nodiscard]] bool in_child() const noexcept { return fork_.in_child(); }
    // In a forked child: the run's lock and the ring's memory are the parent's alone from here on, so that the run ends
    // with it, however long the child lives. Nothing of the rest is touched: a thread of the parent's may have been
    // amid it.
    void leave_to_parent() noexcept;
    [[nodiscard]] bool started() const noexcept { return started_; }    // `start` was called
    [[nodiscard]] bool finished() const noexcept { return finished_; }  // `finish` was called
    // Nothing more is written: it failed, has not begun or is over.
    [[nodiscard]] bool silent() const noexcept;
    // As it was given; the segments go on from it.
    [[nodiscard]] run_place const& place() const noexcept { return run_.place; }

    [[nodiscard]] overflow policy() const noexcept { return policy_; }   // where the ring is full
    [[nodiscard]] std::size_t block() const noexcept { return block_; }  // bytes of values in one entry, at most
    // Bytes that are free at least, headers and padding among them.
    [[nodiscard]] std::uint64_t room() noexcept { return ring_.room(); }
    // What observations and scalars leave free for declarations and closes.
    [[nodiscard]] std::size_t spare() const noexcept { return ring_.size() / 16; }
    // Bytes of an entry that may ever fit.
    [[nodiscard]] std::size_t largest() const noexcept { return ring_.largest() - spare(); }

    [[nodiscard]] plain_rows& rows() noexcept { return rows_; }
    // Memory for an entry, or null: there is no room and the policy does not wait for it.
    [[nodiscard]] std::byte* claim(std::size_t bytes, std::size_t spare_bytes) noexcept;
    // Of what was claimed last.
    void commit(std::size_t bytes, std::uint32_t tag) noexcept { ring_.commit(bytes, tag); }
    // The writer is to give back what it holds, as soon as there is nothing to take. Only a ring that keeps what was
    // taken has any. Asked once: a store at every look of a waiting producer would take the line away from the writer
    // again and again.
    void ask_for_room() noexcept;

    void flush() noexcept;  // waits until what was committed is in the file
    void show() noexcept;   // the same, for as long as a loop may wait that was told an alarm
    void poll() noexcept;   // the writer's work; nothing where a thread does it
    // Somebody outside asks the run to stop; for the training thread.
    [[nodiscard]] stop_file const& stopping() const noexcept { return stop_file_; }
    // Or something else of it; for the training thread, but for what may be exchanged: that is said before the start.
    [[nodiscard]] control_file& control() noexcept { return control_; }

    // What it asked for is done, or why not; other collections from here on. Both once the step is closed:
    // `end_request`.
    void acknowledge(error const& why) noexcept { outcome_ = why; }
    // The body of a run_begin to come; empty: none.
    [[nodiscard]] byte_buffer& begins_anew() noexcept { return begins_anew_; }
    void end_request() noexcept;  // the step at which it was obeyed is closed: it is answered

    // In which section the loop is: in the ring's memory where that outlives the process.
    [[nodiscard]] section_watcher const* watcher() const noexcept { return &watcher_; }

    // What options::beside has to tell to the loop.
    void tell_news(step_id step, step_alarm& into) noexcept {
        if (has_news_.load(std::memory_order_relaxed)) { take_news(step, into); }
    }

    // Adds the writer's part.
    void report(sink_health& into) const noexcept;

private:
    static constexpr std::uint64_t smallest_ring = 64U << 10;
    static constexpr std::uint64_t patience_milliseconds = 2000;
    static constexpr unsigned unused_microseconds = 100'000;  // as often as the stop file is looked for

    [[nodiscard]] std::uint64_t ring_bytes() const noexcept;
    // Which flush the writer is to do; and whether it has.
    [[nodiscard]] std::uint64_t ask_for_flush() noexcept;
    [[nodiscard]] bool flushed(std::uint64_t wanted) const noexcept {
        return flush_done_.load(std::memory_order_acquire) >= wanted;
    }

    [[nodiscard]] bool take_plain_memory() noexcept;
    [[nodiscard]] bool share_memory() noexcept;
    void note(error const& why) noexcept;

    // Copies a few blocks either way into the ring, whole and in small pieces, each to a place of its own, so that no
    // cache helps. Not while the ring has no room for it.
    void measure_copying() noexcept;
    // Fewer are never streamed: waiting until they are in memory takes longer.
    static constexpr std::size_t few_bytes = 4096;
    static constexpr std::size_t never = ~std::size_t{0};
    static constexpr std::size_t copied_rounds = 16, copied_bytes = 64U << 10;
    static constexpr std::size_t copied_room = (2 * copied_rounds + 1) * copied_bytes;
    void start_writing() noexcept;
    static void nap(int microseconds) noexcept { std::this_thread::sleep_for(std::chrono::microseconds{microseconds}); }

    std::byte* wait(std::size_t bytes, std::size_t spare_bytes) noexcept;

    void start_thread() noexcept;
    void stop() noexcept;

    // The writer thread. A wish is looked at before the ring is: so once the ring was seen empty, all that was
    // committed before the wish is in the segment.
    void work() noexcept;
    void look_around() noexcept;
    static void meet_section(void* marks, std::size_t section, std::string_view name) noexcept {
        static_cast<loop_marks*>(marks)->meet(section, name);
    }
    static void enter_section(void* marks, std::size_t section) noexcept {
        auto& here = *static_cast<loop_marks*>(marks);
        section == ~std::size_t{0} ? here.leave() : here.enter(section);
    }
    void look_at_section(std::uint64_t now) noexcept;
    void work_beside(std::uint64_t now) noexcept;
    void end_beside() noexcept;
    void take_news(step_id step, step_alarm& into) noexcept;
    void publish() noexcept;
    void publish_trouble() noexcept;

    file_system& files_;
    open_run run_;
    options choices_;
    overflow policy_;
    room_maker make_{};
    fork_guard fork_;
    std::byte* given_ = nullptr;  // memory of the user's for the ring
    shared_ring shared_;          // or memory that outlives the process; before the ring, which uses it
    byte_ring ring_;
    ring_pages pages_{ring_};
    segment_writer segments_;
    ring_drain drain_;
    stop_file stop_file_;
    control_file control_;
    day_clock_watch day_clock_;
    loop_marks own_marks_{};
    section_watcher watcher_{&own_marks_, &recorder_core::meet_section, &recorder_core::enter_section};
    stay_watch stay_{};
    writer_task* beside_;
    std::uint64_t beside_due_ = 0;
    bool beside_begun_ = false;
    plain_rows rows_{};
    std::size_t block_ = 0;
    std::size_t stream_from_ = never;  // so many bytes go past the caches
    bool measured_ = true;             // or how to copy is still to be found out
    bool declares_ = true;             // the open step did, first at `declared_at_`; the first of all ends as if it did
    bool writing_ = false;             // the writer knows that there is something to write
    std::uint64_t declared_at_ = 0;
    sleeper sleeper_;  // of the writer
    std::thread thread_;
    error outcome_{};  // of a request
    byte_buffer begins_anew_{};
    error trouble_{};  // the first that the training thread met
    bool threaded_ = false;
    bool started_ = false;
    bool finished_ = false;
    bool left_ = false;  // to the parent

    error writer_error_{};  // once has_error_ is set, for ever the same
    std::atomic<bool> has_error_{false};
    std::atomic<bool> failed_{false};
    std::atomic<bool> stop_{false};
    std::atomic<bool> has_news_{false};
    std::atomic<bool> room_wanted_{false};
    std::atomic<std::uint64_t> flush_wanted_{0};
    std::atomic<std::uint64_t> flush_done_{0};
    std::atomic<std::uint64_t> lost_{0};
    std::atomic<std::uint64_t> bytes_{0};
    std::atomic<std::uint64_t> peak_{0};
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/recorder_core.ipp>
#endif
