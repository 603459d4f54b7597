// SPDX-License-Identifier: Apache-2.0
// Record (L4): the producer's end of a ring: its memory, room for entries, and the overflow policy.
#pragma once

#include <spotter/hook/options.hpp>
#include <spotter/record/entry.hpp>
#include <spotter/record/ring_pages.hpp>
#include <spotter/record/run_writer.hpp>
#include <spotter/record/shared_ring.hpp>
#include <spotter/ring/byte_ring.hpp>
#include <spotter/ring/copy.hpp>

#include <algorithm>
#include <chrono>

namespace spotter::inline SPOTTER_ABI {

// Copies values into a ring, through the caches or past them. Called by the training thread. copying::automatic
// measures at the first values that are large enough.
class value_copier {
public:
    // Call it when the ring has its memory.
    void begin(copying how, byte_ring const& ring) noexcept {
        stream_from_ = how == copying::streaming ? few_bytes : never;
        // A ring that is too small to measure in stays in a cache.
        if (how == copying::automatic && detail::can_stream && room <= ring.largest()) { stream_from_ = unmeasured; }
    }

    // Call it before memory is claimed for so many bytes.
    void choose(byte_ring& ring, std::size_t bytes) noexcept {
        if (stream_from_ == unmeasured && bytes >= few_bytes) { measure(ring); }
    }
    // Copies into claimed memory.
    void copy(std::byte* into, std::byte const* from, std::size_t bytes) const noexcept {
        if (bytes >= stream_from_) { return detail::copy_streaming(into, from, bytes); }
        detail::copy_cached(into, from, bytes);
    }

private:
    // Fewer bytes are never streamed: waiting for memory would take longer.
    static constexpr std::size_t few_bytes = 4096;
    static constexpr std::size_t never = ~std::size_t{0}, unmeasured = never - 1;
    static constexpr std::size_t rounds = 16, round_bytes = 64U << 10;
    static constexpr std::size_t room = (2 * rounds + 1) * round_bytes;

    // Copies a few blocks into the ring in both ways, whole and in small pieces, each to its own place, so that no
    // cache helps. Not while the ring lacks room for it.
    SPOTTER_COLD void measure(byte_ring& ring) noexcept {
        std::byte* const first = ring.prepare(room);
        if (first == nullptr) { return; }
        // Page faults must not be measured; and new pages are in the caches, unlike those of a ring in use.
        ring.touch(room + byte_ring::header);
        detail::leave_caches(first, 2 * rounds * round_bytes);
        std::byte const* const from = first + 2 * rounds * round_bytes;
        auto const seconds = [&](std::byte* to, std::size_t piece, auto&& copy_to) {
            auto const begin = std::chrono::steady_clock::now();
            for (std::size_t at = 0; at < round_bytes; at += piece) { copy_to(to + at, from + at, piece); }
            return std::chrono::steady_clock::now() - begin;
        };
        std::size_t
            won[2]{};  // rounds that streaming won: whole blocks, pieces; sums of times would include interruptions
        for (std::size_t i = 0; i < rounds; ++i) {
            std::byte* const to = first + 2 * i * round_bytes;
            std::size_t const piece = i % 2 == 0 ? round_bytes : few_bytes;
            auto const cached = seconds(to, piece, detail::copy_cached);
            won[i % 2] += seconds(to + round_bytes, piece, detail::copy_streaming) < cached ? 1U : 0U;
        }
        bool const streams = 4 * won[0] > rounds;
        stream_from_ = !streams ? never : 4 * won[1] > rounds ? few_bytes : ring_tag::inline_bytes + 1;
    }

    std::size_t stream_from_ = never;  // so many bytes, or more, go past the caches
};

class run_writer;
struct run_place;

// Makes room in a full ring, in place of a writer.
struct room_maker {
    bool (*make)(void* context) noexcept = nullptr;  // called by the training thread until there is room; false: never
    void* context = nullptr;
};

// A step that was discarded to make room.
struct discarded_step {
    std::uint64_t values = 0;  // its observations and scalars
    bool closed = false;       // false: the step was still open
};

// Called by the training thread. If the ring is full it waits for the writer, or does the writer's work.
class ring_input {
public:
    // The arguments must outlive this; `writer` may be constructed later.
    ring_input(file_system& files, options const& choices, run_writer& writer) noexcept
        : files_{files}, choices_{choices}, writer_{writer}, policy_{choices.overflow} {}
    ring_input(ring_input const&) = delete;
    ring_input& operator=(ring_input const&) = delete;

    ~ring_input() {
        remove_shared();
        if (given_ != nullptr && choices_.memory.give_back != nullptr) {
            choices_.memory.give_back(given_, byte_ring::size_for(ring_bytes()), choices_.memory.context);
        }
    }

    // Once, before anything else: takes the user's memory, shared memory, or plain memory. False where there is none.
    [[nodiscard]] SPOTTER_COLD bool take_memory(run_place const& place) noexcept {
        bool const good = choices_.ring_in == ring_in::shared_memory && share_memory(place)
                              ? ring_.start(*shared_.header())
                              : take_plain_memory();
        if (!good) { return false; }
        pages_.begin();
        block_ = (std::min)(layout::block_bytes, ring_.size() / 4);
        copier_.begin(choices_.copying, ring_);
        return true;
    }

    // Removes a shared ring, whose rest is not needed.
    void remove_shared() noexcept { (void)shared_.remove(); }
    // In a forked child: the memory belongs to the parent.
    void leave_to_parent() noexcept { shared_.leave_to_parent(); }
    [[nodiscard]] byte_ring& ring() noexcept { return ring_; }                    // for the writer
    [[nodiscard]] ring_pages& pages() noexcept { return pages_; }                 // likewise
    [[nodiscard]] shared_ring const& shared() const noexcept { return shared_; }  // its header is null for plain memory

    [[nodiscard]] overflow policy() const noexcept { return policy_; }   // when the ring is full
    [[nodiscard]] std::size_t block() const noexcept { return block_; }  // most bytes of values in one entry
    // Free bytes at least, with headers and padding.
    [[nodiscard]] std::uint64_t room() noexcept { return ring_.room(); }
    // The part that observations and scalars leave free for declarations and closes.
    [[nodiscard]] std::size_t spare() const noexcept { return ring_.size() / 16; }
    // Bytes of the largest entry that can ever fit.
    [[nodiscard]] std::size_t largest() const noexcept { return ring_.largest() - spare(); }

    // asks the writer to free what it holds; does not wait
    void ask_for_room() noexcept { writer_.ask_for_room(); }

    // Call it before memory is claimed for so many bytes of values.
    void choose_copying(std::size_t bytes) noexcept { copier_.choose(ring_, bytes); }
    // Copies values into claimed memory.
    void copy(std::byte* into, std::byte const* from, std::size_t bytes) const noexcept {
        copier_.copy(into, from, bytes);
    }
    // Memory for an entry; null if there is no room and the policy does not wait.
    [[nodiscard]] std::byte* claim(std::size_t bytes, std::size_t spare_bytes) noexcept {
        std::byte* const at = ring_.prepare(bytes, spare_bytes);
        return at != nullptr ? at : wait(bytes, spare_bytes);
    }

    // Commits the last claimed memory.
    void commit(std::size_t bytes, std::uint32_t tag) noexcept { ring_.commit(bytes, tag); }

    // A tensor was declared: wakes the writer at the end of the step.
    void declared() noexcept {
        if (declared_at_ == no_entry) { declared_at_ = ring_.committed(); }
        writer_.wake();
    }

    // call it behind the step's close
    void end_step() noexcept {
        if (declared_at_ == no_entry) { return; }
        writer_.wake();
        pages_.ahead(ring_.committed() - std::exchange(declared_at_, no_entry));
    }

    // waits until all committed entries are in the file
    void flush() noexcept {
        if (!writer_.has_thread()) { return writer_.write_out(); }
        std::uint64_t const wanted = writer_.ask_for_flush();
        while (!writer_.flushed(wanted)) { pause(0, 0); }
    }

    // the same, but waits at most 2 s, for a loop that receives an alarm
    void show() noexcept {
        if (!writer_.has_thread()) { return writer_.write_out(); }
        bool const behind = writer_.is_behind();  // an earlier wait has failed
        std::uint64_t const wanted = writer_.ask_for_flush(), since = steady_milliseconds();
        for (int round = 0; policy_ == overflow::block && !behind && !writer_.flushed(wanted); ++round) {
            if (steady_milliseconds() - since >= patience_milliseconds) {
                return note(
                    {errc::not_yet,
                     "the writer took longer than 2 s for an alarm, which was returned before it was in the record; "
                     "nobody "
                     "waits for it until it has caught up, and if the program dies before, the record may not say why; "
                     "check the disk"});
            }
            pause(round, 64);
        }
    }

    // a null `make`: the ring is drained
    void when_full(room_maker const& make) noexcept {
        make_ = make;
        pages_.whole();  // no writer prepares them
    }

    // Discards the entries up to the next close. Only if no thread drains the ring.
    discarded_step discard_step() noexcept {
        discarded_step gone{};
        while (!gone.closed && ring_.peek().some) {
            std::uint32_t const tag = ring_.take().tag;
            if ((tag & ring_tag::block) != 0) { continue; }
            auto const kind = static_cast<row_kind>(tag & ring_tag::kind);
            gone.closed = kind == row_kind::close;
            gone.values += kind == row_kind::observe || kind == row_kind::scalar ? 1 : 0;
        }
        writer_.gave_up(ring_.taken());
        ring_.release();
        return gone;
    }

    // keeps the first error
    SPOTTER_COLD void note(error const& why) noexcept {
        if (why && !trouble_) { trouble_ = why; }
    }

    [[nodiscard]] error const& trouble() const noexcept { return trouble_; }  // the first error

private:
    static constexpr std::uint64_t smallest_ring = 64U << 10;
    static constexpr std::uint64_t patience_milliseconds = 2000;
    static constexpr std::uint64_t no_entry = ~std::uint64_t{0};

    [[nodiscard]] std::uint64_t ring_bytes() const noexcept {
        return choices_.ring_bytes < smallest_ring ? smallest_ring : choices_.ring_bytes;
    }

    [[nodiscard]] SPOTTER_COLD bool take_plain_memory() noexcept {
        memory_source const& from = choices_.memory;
        if (from.take != nullptr) {
            given_ = static_cast<std::byte*>(
                from.take(byte_ring::size_for(ring_bytes()), byte_ring::alignment, from.context));
            if (given_ == nullptr) { return false; }
        }
        return ring_.start(ring_bytes(), given_);
    }

    [[nodiscard]] SPOTTER_COLD bool share_memory(run_place const& place) noexcept {
        ring_owner const owner{place.run_id, place.worker, place.attempt};
        error const why = shared_.make(files_, place.folder, owner, byte_ring::size_for(ring_bytes()));
        if (!why) { return true; }
        error wrapped{why.code, "the ring is in plain memory, a SIGKILL will lose what is in it: "};
        wrapped.what << why.what.view();
        note(wrapped);
        return false;
    }

    SPOTTER_NOINLINE std::byte* wait(std::size_t bytes, std::size_t spare_bytes) noexcept {
        writer_.wake();
        if (policy_ != overflow::block || bytes > ring_.largest()) { return nullptr; }
        if (make_.make != nullptr) {
            std::byte* at = nullptr;
            while ((at = ring_.prepare(bytes, spare_bytes)) == nullptr && make_.make(make_.context)) {}
            return at;
        }
        if (writer_.has_thread()) { return wait_for_writer(bytes, spare_bytes); }
        writer_.make_room();
        return ring_.prepare(bytes, spare_bytes);
    }

    std::byte* wait_for_writer(std::size_t bytes, std::size_t spare_bytes) noexcept {
        auto const progress = [this] { return ring_.released() + writer_.written(); };
        std::uint64_t done = progress();
        std::uint64_t since = steady_milliseconds();
        for (int round = 0; !writer_.failed(); ++round) {
            if (std::byte* const at = ring_.prepare(bytes, spare_bytes)) { return at; }
            writer_.ask_for_room();
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
            pause(round, 32);
        }
        return nullptr;
    }

    static void pause(int round, int yields) noexcept {
        if (round < yields) {
            std::this_thread::yield();
        } else {
            std::this_thread::sleep_for(std::chrono::microseconds{50});
        }
    }

    file_system& files_;
    options const& choices_;
    run_writer& writer_;
    overflow policy_;
    room_maker make_{};
    std::byte* given_ = nullptr;  // the user's memory for the ring
    shared_ring shared_;          // or shared memory; before the ring, which uses it
    byte_ring ring_;
    ring_pages pages_{ring_};
    value_copier copier_{};
    std::size_t block_ = 0;
    std::uint64_t declared_at_ = 0;  // the open step's first declaration, in the ring; the first step counts as one
    error trouble_{};
};

}  // namespace spotter::inline SPOTTER_ABI
