// SPDX-License-Identifier: Apache-2.0
// Record (L4): the writer's side of the ring: takes entries, adds what only the writer knows, and passes rows to the
// segment.
#pragma once

#include <spotter/hook/writer_task.hpp>
#include <spotter/record/delta_chains.hpp>
#include <spotter/record/entry.hpp>
#include <spotter/record/segment_writer.hpp>
#include <spotter/ring/byte_ring.hpp>

namespace spotter::inline SPOTTER_ABI {

// Used by one thread at a time: the writer thread, or the one that calls poll. If the segments record the ring's
// position (segment_writer::mark_from), the ring outlives the process: an entry stays in it until its row is in the
// file. So one of them has it whenever the process ends.
class ring_drain {
public:
    ring_drain(byte_ring& ring, segment_writer& segments, std::uint32_t flush_milliseconds) noexcept
        : ring_{ring}, segments_{segments}, flush_milliseconds_{flush_milliseconds} {}

    // Continues an observation whose first values, `packed`, are in another segment; `done` is their unpacked size.
    // Call it before the first entry. False where memory is exhausted.
    [[nodiscard]] bool go_on(rows::drained const& mark, byte_view packed, std::uint64_t done) noexcept;

    // Takes one entry; false if there is none.
    bool take() noexcept;
    // Frees all taken entries now, because the producer waits.
    void make_room() noexcept;
    // Flushes if it is time; `now` of a steady clock. Does nothing amid the blocks of a tensor, which stay together.
    void tick(std::uint64_t now) noexcept;
    // Writes everything to the file. The producer has committed all entries, so incomplete values were given up.
    void flush(std::uint64_t now) noexcept;
    // The rest of the current values will not come.
    void give_up() noexcept;
    [[nodiscard]] std::uint64_t peak() const noexcept { return peak_; }  // most bytes that waited in the ring
    // From the entries that were taken.
    [[nodiscard]] loop_progress const& loop() const noexcept { return loop_; }

private:
    static constexpr std::uint64_t heartbeat_milliseconds = 10'000;
    static constexpr std::uint64_t open_milliseconds = 200;  // a step that is open longer is written incomplete
    static constexpr std::uint64_t look_milliseconds = 100;  // interval of the check for a replaced segment

    // Frees an eighth of the ring at a time, so that the producer has room while the rest is written; a quarter between
    // values, so that the rows of small steps fill a frame first.
    void give_back() noexcept;
    // Values that do not fit beside the held entries go to the file block by block, after their row. Then only blocks
    // that are in the file leave the ring, and the row is not lost if this process ends.
    [[nodiscard]] bool must_stream(byte_view body, std::uint64_t bytes) noexcept;
    void begin_stream(rows::drained const& mark) noexcept;

    void take_row(std::uint32_t tag, byte_view body) noexcept;
    // The row waits until its values are complete.
    void take_values(byte_view body) noexcept;
    void take_inside(byte_view body) noexcept;
    void take_block(byte_view block) noexcept;
    // False if the ring outlives the process: a recovery does not have the values that a difference builds on.
    [[nodiscard]] bool is_chained(ring_tag::values_head const& head) const noexcept;
    // `pending_` has the row whose values come now. They are stored as differences if the tensor is recorded in chains
    // and has a base.
    void begin_chain(ring_tag::values_head const& head) noexcept;
    void put_thinned(byte_view body) noexcept;
    void put_place(byte_view row) noexcept;

    byte_ring& ring_;
    segment_writer& segments_;
    std::uint32_t flush_milliseconds_;
    byte_buffer pending_;  // the row of the current values
    payload_place place_{};
    delta_chains chains_;
    bool chained_ = false;    // the current values belong to a chain
    std::uint64_t left_ = 0;  // bytes of values to come
    std::uint64_t all_ = 0;   // bytes of all the current values
    std::uint64_t flushed_at_ = steady_milliseconds();
    std::uint64_t closed_at_ = flushed_at_;
    std::uint64_t looked_at_ = flushed_at_;
    std::uint64_t closes_ = 0;
    std::uint64_t peak_ = 0;
    loop_progress loop_{};
    bool dirty_ = false;    // something came since the last flush
    bool streams_ = false;  // the blocks of the current values are streamed
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/ring_drain.ipp>
#endif
