// SPDX-License-Identifier: Apache-2.0
// Record (L4): the inside of a recorder that has its folder: the ring, who drains it, and what happens when it is full.
#pragma once

#include <spotter/file/posix.hpp>
#include <spotter/record/folder.hpp>
#include <spotter/record/ring_drain.hpp>
#include <spotter/record/stop_file.hpp>
#include <spotter/ring/copy.hpp>

#include <algorithm>
#include <atomic>
#include <thread>

namespace spotter::inline SPOTTER_ABI {

// The training thread calls everything but `work`. What the writer has to say to it goes through the atomics at the end.
//
// Nothing here throws: memory comes from nothrow new, files from system calls, and the writer thread runs noexcept code only.
// The one thing that can is the start of that thread; where it cannot be had, the ring is drained by its producer.
class recorder_core {
public:
    // One that `holds` keeps the latest steps in the ring until `write_out`; the oldest make room.
    recorder_core(file_system& files, open_run const& run, options const& choices, bool holds) noexcept
        : files_{files}, run_{run}, choices_{choices}, policy_{choices.overflow}, holds_{holds},
          segments_{files, choices}, drain_{ring_, segments_, choices.flush_milliseconds},
          stop_file_{files, run.place.folder, run.place.worker} {
        if (choices.clock != nullptr) { run_.place.now = choices.clock; }
        trouble_ = run.left;
    }
    recorder_core(recorder_core const&) = delete;
    recorder_core& operator=(recorder_core const&) = delete;
    ~recorder_core() {
        stop();
        (void)shared_.remove();
        files_.unlock(run_.lock);
        if (given_ != nullptr && choices_.memory.give_back != nullptr) {
            choices_.memory.give_back(given_, byte_ring::size_for(ring_bytes()), choices_.memory.context);
        }
    }

    [[nodiscard]] bool take_memory() noexcept {
        bool const good = choices_.ring_in == ring_in::shared_memory && share_memory() ? ring_.start(*shared_.header())
                                                                                       : take_plain_memory();
        block_ = (std::min)(layout::block_bytes, ring_.size() / 4);
        streaming_ = choices_.copying == copying::streaming ||
                     (choices_.copying == copying::automatic && good && streaming_is_faster());
        return good;
    }
    // Values on their way into memory that was claimed.
    void copy(std::byte* into, std::byte const* from, std::size_t bytes) const noexcept {
        if (streaming_) { return detail::copy_streaming(into, from, bytes); }
        detail::copy_cached(into, from, bytes);
    }
    void start(byte_view run_begin) noexcept {
        segments_.start_helpers(choices_.compressors, choices_.compression_level);
        segments_.begin(run_.place, run_begin);
        publish();
        started_ = true;
        if (choices_.drain == drain::thread && !holds_) { start_thread(); }
    }
    // Ends the writer thread and takes what is in the ring; only `finish` may follow.
    void settle() noexcept {
        stop();
        while (holds_ && discard_step()) {}
        while (drain_.take()) {}
        drain_.give_up();
    }
    [[nodiscard]] bool holds() const noexcept { return holds_; }
    // Of one that holds: whether the oldest steps make room by being discarded, or by being written. At the end of a step.
    void discard_oldest(bool it) noexcept { discards_ = it; }
    // What never came into a segment.
    [[nodiscard]] std::uint64_t discarded_values() const noexcept { return discarded_values_; }
    [[nodiscard]] std::uint64_t discarded_closes() const noexcept { return discarded_closes_; }
    // Of one that holds: all that is in the ring, into the segment.
    void write_out() noexcept {
        while (drain_.take()) {}
        drain_.flush(steady_milliseconds());
        publish();
    }
    // Declarations stay when the steps that they were made at are long gone.
    void declare_apart(byte_view body) noexcept {
        segments_.add(row_kind::declare, body);
        segments_.flush();
    }
    // False where the step that ends was larger than the ring, and is gone.
    [[nodiscard]] bool end_step() noexcept {
        if (!std::exchange(overrun_, false)) { return true; }
        while (discard_step()) {}
        note({errc::dropped, "a step is larger than the flight recorder: raise options::flight_bytes"});
        return false;
    }
    void finish(byte_view run_end) noexcept {
        segments_.look();
        if (started_) { segments_.add(row_kind::run_end, run_end); }
        segments_.finish();
        publish();
        (void)shared_.remove();
        files_.unlock(run_.lock);
        run_.lock = {};
        finished_ = true;
    }
    [[nodiscard]] bool in_child() const noexcept { return fork_.in_child(); }
    // In a forked child: the run's lock and the ring's memory are the parent's alone from here on, so that the run ends with it, however
    // long the child lives. Nothing of the rest is touched: a thread of the parent's may have been amid it.
    void leave_to_parent() noexcept {
        if (std::exchange(left_, true) || finished_) { return; }
        path_text const lock{run_.place.folder, layout::lock_name};
        if (files_.is_at(run_.lock, lock).value_or(false)) { files_.leave_lock(run_.lock); }
        shared_.leave_to_parent();
    }
    [[nodiscard]] bool started() const noexcept { return started_; }
    [[nodiscard]] bool finished() const noexcept { return finished_; }
    // Nothing more is written: it failed, has not begun or is over.
    [[nodiscard]] bool silent() const noexcept {
        return !started_ || finished_ || failed_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] run_place const& place() const noexcept { return run_.place; }

    [[nodiscard]] overflow policy() const noexcept { return policy_; }
    [[nodiscard]] std::size_t block() const noexcept { return block_; }
    [[nodiscard]] std::uint64_t room() noexcept { return ring_.room(); }
    // What observations and scalars leave free for declarations and closes.
    [[nodiscard]] std::size_t spare() const noexcept { return ring_.size() / 16; }
    [[nodiscard]] std::size_t largest() const noexcept { return ring_.largest() - spare(); }

    // Memory for an entry, or null: there is no room and the policy does not wait for it.
    [[nodiscard]] std::byte* claim(std::size_t bytes, std::size_t spare_bytes) noexcept {
        std::byte* const at = overrun_ ? nullptr : ring_.prepare(bytes, spare_bytes);
        return at != nullptr ? at : wait(bytes, spare_bytes);
    }
    void commit(std::size_t bytes, std::uint32_t tag) noexcept { ring_.commit(bytes, tag); }
    // The writer is to give back what it holds, as soon as there is nothing to take. Only a ring that keeps what was taken has any.
    // Asked once: a store at every look of a waiting producer would take the line away from the writer again and again.
    void ask_for_room() noexcept {
        if (keeps_ && !room_wanted_.load(std::memory_order_relaxed)) {
            room_wanted_.store(true, std::memory_order_relaxed);
        }
    }

    void flush() noexcept {
        if (holds_) { return; }
        if (!threaded_) { return write_out(); }
        std::uint64_t const wanted = flush_wanted_.load(std::memory_order_relaxed) + 1;
        flush_wanted_.store(wanted, std::memory_order_release);
        while (flush_done_.load(std::memory_order_acquire) < wanted) { nap(50); }
    }
    void poll() noexcept {
        if (threaded_ || holds_) { return; }
        while (drain_.take()) {}
        look_around();
    }
    // Somebody outside asks the run to stop; for the training thread.
    [[nodiscard]] stop_file const& stopping() const noexcept { return stop_file_; }

    // Adds the writer's part.
    void report(sink_health& into) const noexcept {
        std::uint64_t const lost = lost_.load(std::memory_order_acquire);
        into.stored -= lost < into.stored ? lost : into.stored;
        into.dropped += lost;
        into.bytes = bytes_.load(std::memory_order_relaxed);
        into.ring_peak = peak_.load(std::memory_order_relaxed);
        if (!into.first && has_error_.load(std::memory_order_acquire)) { into.first = writer_error_; }
        if (!into.first) { into.first = trouble_; }
    }

private:
    static constexpr std::uint64_t smallest_ring = 64U << 10;
    static constexpr std::uint64_t patience_milliseconds = 2000;

    [[nodiscard]] std::uint64_t ring_bytes() const noexcept {
        return choices_.ring_bytes < smallest_ring ? smallest_ring : choices_.ring_bytes;
    }

    [[nodiscard]] bool take_plain_memory() noexcept {
        memory_source const& from = choices_.memory;
        if (from.take != nullptr) {
            given_ = static_cast<std::byte*>(
                from.take(byte_ring::size_for(ring_bytes()), byte_ring::alignment, from.context));
            if (given_ == nullptr) { return false; }
        }
        return ring_.start(ring_bytes(), given_);
    }
    [[nodiscard]] bool share_memory() noexcept {
        ring_owner const owner{run_.place.run_id, run_.place.worker, run_.place.attempt};
        error const why = shared_.make(files_, run_.place.folder, owner, byte_ring::size_for(ring_bytes()));
        if (!why) {
            drain_.keep_until_written(0);
            keeps_ = true;
            return true;
        }
        error told{why.code, "the ring is in plain memory, a SIGKILL will lose what is in it: "};
        told.what << why.what.view();
        note(told);
        return false;
    }
    void note(error const& why) noexcept {
        if (!trouble_) { trouble_ = why; }
    }

    // Copies a few blocks either way into the ring, each to a place of its own, so that no cache helps.
    [[nodiscard]] bool streaming_is_faster() noexcept {
        constexpr std::size_t rounds = 16, bytes = 128U << 10;
        std::byte* const first = ring_.prepare((2 * rounds + 1) * bytes);
        if (first == nullptr) { return false; }  // a ring that small stays in a cache
        std::byte const* const from = first + 2 * rounds * bytes;
        std::chrono::nanoseconds cached{}, streamed{};
        for (std::size_t i = 0; i < rounds; ++i) {
            auto const begin = std::chrono::steady_clock::now();
            detail::copy_cached(first + 2 * i * bytes, from, bytes);
            auto const between = std::chrono::steady_clock::now();
            detail::copy_streaming(first + (2 * i + 1) * bytes, from, bytes);
            auto const end = std::chrono::steady_clock::now();
            cached += between - begin;
            streamed += end - between;
        }
        return streamed < cached;
    }
    static void nap(int microseconds) noexcept { std::this_thread::sleep_for(std::chrono::microseconds{microseconds}); }

    SPOTTER_NOINLINE std::byte* wait(std::size_t bytes, std::size_t spare_bytes) noexcept {
        if (policy_ != overflow::block || bytes > ring_.largest()) { return nullptr; }
        if (holds_ && discards_) { return discard_for(bytes, spare_bytes); }
        if (!threaded_) {
            while (drain_.take()) {}
            drain_.make_room();
            publish();
            return ring_.prepare(bytes, spare_bytes);
        }
        auto const progress = [this] { return ring_.released() + bytes_.load(std::memory_order_relaxed); };
        std::uint64_t done = progress();
        std::uint64_t since = steady_milliseconds();
        for (int round = 0; !failed_.load(std::memory_order_relaxed); ++round) {
            if (std::byte* const at = ring_.prepare(bytes, spare_bytes)) { return at; }
            ask_for_room();
            std::uint64_t const now = steady_milliseconds();
            if (std::uint64_t const seen = progress(); seen != done) {
                done = seen;
                since = now;
            } else if (now - since >= patience_milliseconds) {
                policy_ = overflow::thin;
                note({errc::dropped,
                      "the writer made no progress for 2 s, so the training no longer waits for it: payloads "
                      "that do not fit the ring are dropped and counted; check the disk"});
                return nullptr;
            }
            if (round < 32) {
                std::this_thread::yield();
            } else {
                nap(50);
            }
        }
        return nullptr;
    }

    // The oldest steps make room. Null where the open one alone does not fit: it is given up, to its end.
    [[nodiscard]] std::byte* discard_for(std::size_t bytes, std::size_t spare_bytes) noexcept {
        while (!overrun_) {
            if (std::byte* const at = ring_.prepare(bytes, spare_bytes)) { return at; }
            overrun_ = !discard_step();
        }
        return nullptr;
    }
    // Takes entries out up to the next close; false where there is none, and nothing left.
    bool discard_step() noexcept {
        bool closed = false;
        while (!closed && ring_.peek().some) {
            std::uint32_t const tag = ring_.take().tag;
            if ((tag & ring_tag::block) != 0) { continue; }
            auto const kind = static_cast<row_kind>(tag & ring_tag::kind);
            closed = kind == row_kind::close;
            discarded_values_ += kind == row_kind::observe || kind == row_kind::scalar ? 1 : 0;
        }
        discarded_closes_ += closed ? 1 : 0;
        segments_.reach(ring_.taken());
        ring_.release();
        return closed;
    }

    void start_thread() noexcept {
#if SPOTTER_EXCEPTIONS
        try {
            thread_ = std::thread{[this]() noexcept { work(); }};
        } catch (...) {
            note({errc::out_of_memory,
                  "no thread could be started for writing; the training thread writes itself, more slowly"});
            return;
        }
#else
        thread_ = std::thread{[this]() noexcept { work(); }};
#endif
        threaded_ = true;
    }
    void stop() noexcept {
        if (!threaded_) { return; }
        stop_.store(true, std::memory_order_release);
        thread_.join();
        threaded_ = false;
    }

    // The writer thread. A wish is looked at before the ring is: so once the ring was seen empty, all that was committed
    // before the wish is in the segment.
    void work() noexcept {
        size_limit_as_error::for_this_thread();
        int idle = 0;
        for (;;) {
            bool const stopping = stop_.load(std::memory_order_acquire);
            std::uint64_t const wanted = flush_wanted_.load(std::memory_order_acquire);
            int taken = 0;
            while (taken < 16 && drain_.take()) { ++taken; }
            look_around();
            if (taken > 0) {
                idle = 0;
                continue;
            }
            if (room_wanted_.load(std::memory_order_relaxed)) {
                room_wanted_.store(false, std::memory_order_relaxed);
                drain_.make_room();
            }
            if (wanted != flush_done_.load(std::memory_order_relaxed)) {
                drain_.flush(steady_milliseconds());
                publish();
                flush_done_.store(wanted, std::memory_order_release);
            }
            if (stopping) { return; }
            // Spins briefly, then naps longer and longer up to 2 ms: an idle run costs nothing that could be measured.
            if (++idle < 32) {
                std::this_thread::yield();
            } else {
                nap(idle < 40 ? 200 : idle < 100 ? 1000 : 2000);
            }
        }
    }
    void look_around() noexcept {
        std::uint64_t const now = steady_milliseconds();
        drain_.tick(now);
        publish();
        stop_file_.look(now);
    }
    void publish() noexcept {
        if (shared_.header() != nullptr) { shared_.header()->note_time(segments_.now()); }
        bytes_.store(segments_.written(), std::memory_order_relaxed);
        peak_.store(drain_.peak(), std::memory_order_relaxed);
        lost_.store(segments_.lost(), std::memory_order_release);
        error const& why = segments_.first_error() ? segments_.first_error() : stop_file_.trouble();
        if (why && !has_error_.load(std::memory_order_relaxed)) {
            writer_error_ = why;
            has_error_.store(true, std::memory_order_release);
        }
        failed_.store(segments_.failed(), std::memory_order_relaxed);
    }

    file_system& files_;
    open_run run_;
    options choices_;
    overflow policy_;
    bool holds_;
    bool discards_ = true;
    bool overrun_ = false;  // the open step did not fit the ring that holds it
    fork_guard fork_;
    std::byte* given_ = nullptr;  // memory of the user's for the ring
    shared_ring shared_;          // or memory that outlives the process; before the ring, which uses it
    byte_ring ring_;
    segment_writer segments_;
    ring_drain drain_;
    stop_file stop_file_;
    std::uint64_t discarded_values_ = 0;
    std::uint64_t discarded_closes_ = 0;
    std::size_t block_ = 0;
    bool streaming_ = false;
    bool keeps_ = false;  // the ring, until it is written
    std::thread thread_;
    error trouble_{};  // the first that the training thread met
    bool threaded_ = false;
    bool started_ = false;
    bool finished_ = false;
    bool left_ = false;  // to the parent

    error writer_error_{};  // once has_error_ is set, for ever the same
    std::atomic<bool> has_error_{false};
    std::atomic<bool> failed_{false};
    std::atomic<bool> stop_{false};
    std::atomic<bool> room_wanted_{false};
    std::atomic<std::uint64_t> flush_wanted_{0};
    std::atomic<std::uint64_t> flush_done_{0};
    std::atomic<std::uint64_t> lost_{0};
    std::atomic<std::uint64_t> bytes_{0};
    std::atomic<std::uint64_t> peak_{0};
};

}  // namespace spotter::inline SPOTTER_ABI
