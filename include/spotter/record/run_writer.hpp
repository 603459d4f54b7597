// SPDX-License-Identifier: Apache-2.0
// Record (L4): the writer of a run: moves the ring's entries to segments, and runs the tasks beside it.
#pragma once

#include <spotter/config.hpp>
#include <spotter/file/size_limit.hpp>
#include <spotter/record/errands.hpp>
#include <spotter/record/folder.hpp>
#include <spotter/record/ring_drain.hpp>
#include <spotter/record/ring_pages.hpp>
#include <spotter/record/shared_ring.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace spotter::inline SPOTTER_ABI {

// Only one thread sleeps. A wake-up while it is awake ends its next sleep. Writes before wake() are visible after
// sleep().
class sleeper {
public:
    // True if it was woken.
    bool sleep(unsigned microseconds) noexcept {
        std::unique_lock lock{mutex_};
        (void)called_.wait_for(lock, std::chrono::microseconds{microseconds}, [this] { return woken_; });
        return std::exchange(woken_, false);
    }
    // Callable from any thread.
    void wake() noexcept {
        {
            std::lock_guard const lock{mutex_};
            woken_ = true;
        }
        called_.notify_one();
    }

private:
    std::mutex mutex_;
    std::condition_variable called_;
    bool woken_ = false;
};

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

// The writer's side of a recording, with or without its own thread. It communicates with the training thread through
// the atomics at the end. Nothing throws. Only starting the thread could: if that fails, the training thread does the
// work.
class run_writer {
public:
    // The arguments must outlive this.
    run_writer(file_system& files, open_run const& run, options const& choices, byte_ring& ring, ring_pages& pages,
               shared_ring const& shared) noexcept
        : choices_{choices}, folder_{run.place.folder}, pages_{pages}, shared_{shared}, segments_{files, choices},
          drain_{ring, segments_, choices.flush_milliseconds},
          errands_{.stop{files, run.place.folder, run.place.worker},
                   .control{files, run.place.folder, run.place.worker},
                   .day_clock = day_clock_watch{choices.clock == nullptr},
                   .beside = beside_task{choices.beside}} {}

    run_writer(run_writer const&) = delete;
    run_writer& operator=(run_writer const&) = delete;
    ~run_writer() { end(); }

    // Called by the training thread, in this order.
    void outlives_process() noexcept { segments_.mark_from(0); }  // the ring outlives the process; before `start`
    // Creates the first segment, and starts the thread if wanted. Error: there is no thread.
    [[nodiscard]] error start(run_place const& place, byte_view run_begin) noexcept {
        segments_.start_helpers(choices_.compressors, choices_.compression_level);
        segments_.begin(place, run_begin);
        publish();
        return choices_.drain == drain::thread ? start_thread() : error{};
    }

    // Ends the thread and drains the ring.
    void stop_and_drain() noexcept {
        stop_thread();
        take_all();
        drain_.give_up();
    }

    // Writes everything to the files. Without `run_end` if the run did not begin.
    void finish(byte_view run_end) noexcept {
        errands_.beside.end();
        errands_.control.end();
        segments_.look();
        if (!run_end.empty()) { segments_.add(row_kind::run_end, run_end); }
        segments_.finish();
        publish();
    }

    // Ends thread and tasks of an abandoned recording.
    void end() noexcept {
        stop_thread();
        errands_.beside.end();
    }

    // Called by the training thread, at any time in between.
    [[nodiscard]] bool has_thread() const noexcept {
        return state_.load(std::memory_order_relaxed) != writer_state::by_hand;
    }
    // Something is recorded.
    void wake() noexcept {
        if (state_.load(std::memory_order_relaxed) != writer_state::asleep) { return; }
        state_.store(writer_state::awake, std::memory_order_relaxed);
        sleeper_.wake();
    }

    // Asks the writer to free what it holds as soon as the ring has no entry to take; only a ring that outlives the
    // process holds entries. Stored once: a store at every check of a waiting producer would keep taking the cache line
    // from the writer.
    void ask_for_room() noexcept {
        wake();
        if (shared_.header() != nullptr && !room_wanted_.load(std::memory_order_relaxed)) {
            room_wanted_.store(true, std::memory_order_relaxed);
        }
    }

    // Requests a flush; returns its number.
    [[nodiscard]] std::uint64_t ask_for_flush() noexcept {
        std::uint64_t const wanted = flush_wanted_.load(std::memory_order_relaxed) + 1;
        flush_wanted_.store(wanted, std::memory_order_release);
        sleeper_.wake();
        return wanted;
    }

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
    // Adds its part.
    void report(sink_health& into) const noexcept {
        std::uint64_t const lost = lost_.load(std::memory_order_acquire);
        into.stored -= lost < into.stored ? lost : into.stored;
        into.dropped += lost;
        into.bytes = written();
        into.ring_peak = peak_.load(std::memory_order_relaxed);
        if (!into.first_error && health_.load(std::memory_order_acquire) != writer_health::well) {
            into.first_error = trouble_;
        }
    }

    // The training thread reads their atomics.
    [[nodiscard]] writer_errands& errands() noexcept { return errands_; }
    [[nodiscard]] writer_errands const& errands() const noexcept { return errands_; }

    // Called by the training thread if it is the writer (writer_state::by_hand).
    void poll() noexcept {
        if (has_thread()) { return; }
        (void)pages_.more();
        take_all();
        look_around();
    }

    // Writes the content of the ring to the segment.
    void write_out() noexcept {
        take_all();
        drain_.flush(steady_milliseconds());
        publish();
    }

    // The same, and frees it.
    void make_room() noexcept {
        take_all();
        drain_.make_room();
        publish();
    }

    // Writes a declaration, bypassing the ring.
    SPOTTER_COLD void declare_apart(byte_view body) noexcept {
        segments_.add(row_kind::declare, body);
        segments_.flush();
    }

    // Everything before this ring position was given up.
    void gave_up(std::uint64_t position) noexcept { segments_.reach(position); }

private:
    static constexpr unsigned unused_microseconds = 100'000;  // the interval of the stop file

    void take_all() noexcept {
        while (drain_.take()) {}
    }

    [[nodiscard]] SPOTTER_COLD error start_thread() noexcept {
        state_.store(writer_state::asleep, std::memory_order_relaxed);
#if SPOTTER_EXCEPTIONS
        try {
            thread_ = std::thread{[this]() noexcept { work(); }};
        } catch (...) {
            state_.store(writer_state::by_hand, std::memory_order_relaxed);
            return {errc::out_of_memory,
                    "no thread could be started for writing; the training thread writes itself, more slowly"};
        }
#else
        thread_ = std::thread{[this]() noexcept { work(); }};
#endif
        return {};
    }

    void stop_thread() noexcept {
        if (!has_thread()) { return; }
        state_.store(writer_state::stopping, std::memory_order_release);
        sleeper_.wake();
        thread_.join();
        state_.store(writer_state::by_hand, std::memory_order_relaxed);
    }

    // Requests are read before the ring. So once the ring was seen empty, everything committed before the request is in
    // the segment.
    void work() noexcept {
        size_limit_as_error::for_this_thread();
        for (int idle = 0;;) {
            writer_state const state = state_.load(std::memory_order_acquire);
            std::uint64_t const wanted = flush_wanted_.load(std::memory_order_acquire);
            bool const made_ready = state != writer_state::stopping && flushed(wanted) && pages_.more();
            int taken = 0;
            while (taken < 16 && drain_.take()) { ++taken; }
            look_around();
            if (taken > 0 || made_ready) {
                idle = 0;
                continue;
            }
            grant_wishes(wanted);
            if (state == writer_state::stopping) { return; }
            rest(state, idle);
        }
    }

    void grant_wishes(std::uint64_t flush) noexcept {
        if (room_wanted_.load(std::memory_order_relaxed)) {
            room_wanted_.store(false, std::memory_order_relaxed);
            drain_.make_room();
        }
        if (flush != flush_done_.load(std::memory_order_relaxed)) {
            drain_.flush(steady_milliseconds());
            publish();
            flush_done_.store(flush, std::memory_order_release);
        }
    }

    // Sleeps until something is recorded. Afterwards it spins briefly, and then naps for up to 2 ms: the cost of an
    // idle run is not measurable.
    void rest(writer_state now, int& idle) noexcept {
        if (now == writer_state::asleep) {
            (void)sleeper_.sleep(unused_microseconds);
        } else if (++idle < 32) {
            std::this_thread::yield();
        } else {
            (void)sleeper_.sleep(idle < 40 ? 200 : idle < 100 ? 1000 : 2000);
        }
    }

    void look_around() noexcept {
        std::uint64_t const now = steady_milliseconds();
        drain_.tick(now);
        publish();
        errands_.stop.look(now);
        look_at_control(now);
        errands_.day_clock.look(now);
        look_at_place(now);
        errands_.beside.look(now, folder_, choices_, drain_.loop());
    }

    void look_at_control(std::uint64_t now) noexcept {
        if (!errands_.control.look(now)) { return; }
        take_all();
        drain_.flush(now);
        errands_.control.answer();
    }

    void look_at_place(std::uint64_t now) noexcept {
        rows::stay row{};
        std::uint64_t const milliseconds = errands_.place.look(now, row.section);
        if (milliseconds == 0) { return; }
        take_all();
        row.time = segments_.now();
        row.seconds = static_cast<double>(milliseconds) / 1000;
        segments_.stay(row);
        drain_.flush(now);
    }

    void publish() noexcept {
        if (shared_.header() != nullptr) { shared_.header()->note_time(segments_.now()); }
        bytes_.store(segments_.written(), std::memory_order_relaxed);
        peak_.store(drain_.peak(), std::memory_order_relaxed);
        lost_.store(segments_.lost(), std::memory_order_release);
        if (health_.load(std::memory_order_relaxed) == writer_health::well) { publish_trouble(); }
        if (segments_.failed()) { health_.store(writer_health::failed, std::memory_order_release); }
    }

    SPOTTER_COLD void publish_trouble() noexcept {
        for (error const& each : {segments_.first_error(), errands_.stop.trouble(), errands_.control.trouble(),
                                  errands_.day_clock.trouble(), errands_.beside.trouble()}) {
            if (!each) { continue; }
            trouble_ = each;
            health_.store(writer_health::troubled, std::memory_order_release);
            return;
        }
    }

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
