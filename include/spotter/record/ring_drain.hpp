// SPDX-License-Identifier: Apache-2.0
// Record (L4): the writer's side of the ring: takes entries, adds what only the writer knows, hands rows to the
// segment.
#pragma once

#include <spotter/hook/writer_task.hpp>
#include <spotter/record/delta_chains.hpp>
#include <spotter/record/entry.hpp>
#include <spotter/record/segment_writer.hpp>
#include <spotter/ring/byte_ring.hpp>

namespace spotter::inline SPOTTER_ABI {

// Used by one thread at a time: the writer thread, or whoever calls poll. Where the segments say how far the ring is in
// them (segment_writer::mark_from), the ring outlives the process: an entry stays in it until its row is in the file,
// so that one or the other has it whenever the process ends.
class ring_drain {
public:
    ring_drain(byte_ring& ring, segment_writer& segments, std::uint32_t flush_milliseconds) noexcept
        : ring_{ring}, segments_{segments}, flush_milliseconds_{flush_milliseconds} {}

    // Goes on with an observation of which `packed`, `done` bytes when unpacked, is in another segment. Before the
    // first entry. False where there is no memory.
    [[nodiscard]] bool go_on(rows::drained const& mark, byte_view packed, std::uint64_t done) noexcept;

    // Takes one entry. False if there is none.
    bool take() noexcept;
    // The room of everything taken, now: somebody waits for it.
    void make_room() noexcept;
    // Flushes if it is time to. `now` is a steady clock's. Not amid the blocks of a tensor, which stay together.
    void tick(std::uint64_t now) noexcept;
    // All there is into the file. Whoever asks has handed over everything, so values that are not whole were given up.
    void flush(std::uint64_t now) noexcept;
    // The rest of the values that were coming in will not come.
    void give_up() noexcept;
    [[nodiscard]] std::uint64_t peak() const noexcept { return peak_; }  // bytes: the most that waited in the ring
    // As the entries that were taken tell it.
    [[nodiscard]] loop_progress const& loop() const noexcept { return loop_; }

private:
    static constexpr std::uint64_t heartbeat_milliseconds = 10'000;
    static constexpr std::uint64_t open_milliseconds = 200;  // a step open for longer is shown unfinished
    static constexpr std::uint64_t look_milliseconds = 100;  // the segment may have been replaced meanwhile

    // An eighth of the ring at a time, so that the producer finds room while the rest is written; a quarter where the
    // rows of small steps should have filled a frame first.
    void give_back() noexcept;
    // Values that do not fit beside what is held go into the file block by block, and the row that waits for them
    // before them: then only blocks that are in the file leave the ring, and the row is not lost with this process.
    [[nodiscard]] bool must_stream(byte_view body, std::uint64_t bytes) noexcept;
    void begin_stream(rows::drained const& mark) noexcept;

    void take_row(std::uint32_t tag, byte_view body) noexcept;
    // The row waits until its values are in.
    void take_values(byte_view body) noexcept;
    void take_inside(byte_view body) noexcept;
    void take_block(byte_view block) noexcept;
    // Not where the ring outlives the process: what is left in it has to mean something without what this process
    // remembers.
    [[nodiscard]] bool is_chained(ring_tag::values_head const& head) const noexcept;
    // In `pending_` is a row whose values come now: as differences, where its tensor is asked for in chains and has a
    // base.
    void begin_chain(ring_tag::values_head const& head) noexcept;
    void put_thinned(byte_view body) noexcept;
    void put_place(byte_view row) noexcept;

    byte_ring& ring_;
    segment_writer& segments_;
    std::uint32_t flush_milliseconds_;
    byte_buffer pending_;  // the row whose values are coming in
    payload_place place_{};
    delta_chains chains_;
    bool chained_ = false;    // the values that are coming in belong to a chain
    std::uint64_t left_ = 0;  // bytes of values to come
    std::uint64_t all_ = 0;   // of how many
    std::uint64_t flushed_at_ = steady_milliseconds();
    std::uint64_t closed_at_ = flushed_at_;
    std::uint64_t looked_at_ = flushed_at_;
    std::uint64_t closes_ = 0;
    std::uint64_t peak_ = 0;
    loop_progress loop_{};
    bool dirty_ = false;    // something came since the last flush
    bool streams_ = false;  // but blocks of the values that are coming in
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/ring_drain.ipp>
#endif
