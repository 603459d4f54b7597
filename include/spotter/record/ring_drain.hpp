// SPDX-License-Identifier: Apache-2.0
// Record (L4): the writer's side of the ring: takes entries, adds what only the writer knows, hands rows to the segment.
#pragma once

#include <spotter/record/delta_chains.hpp>
#include <spotter/record/entry.hpp>
#include <spotter/record/segment_writer.hpp>
#include <spotter/ring/byte_ring.hpp>

namespace spotter::inline SPOTTER_ABI {

// Used by one thread at a time: the writer thread, or whoever calls poll.
class ring_drain {
public:
    ring_drain(byte_ring& ring, segment_writer& segments, std::uint32_t flush_milliseconds) noexcept
        : ring_{ring}, segments_{segments}, flush_milliseconds_{flush_milliseconds} {}

    // Takes one entry. False if there is none.
    bool take() noexcept {
        ring_entry const entry = ring_.peek();
        if (!entry.some) { return false; }
        peak_ = ring_.backlog() > peak_ ? ring_.backlog() : peak_;
        if ((entry.tag & ring_tag::block) != 0) {
            take_block(entry.bytes);
        } else {
            give_up();
            take_row(entry.tag, entry.bytes);
        }
        ring_.release();
        return true;
    }
    // Flushes if it is time to. `now` is a steady clock's. Not amid the blocks of a tensor, which stay together.
    void tick(std::uint64_t now) noexcept {
        if (left_ > 0) { return; }
        if (segments_.ordinal() != closes_) {
            closes_ = segments_.ordinal();
            closed_at_ = now;
        }
        if (dirty_ && now - flushed_at_ >= flush_milliseconds_) {
            segments_.flush(now - closed_at_ >= open_milliseconds);
            dirty_ = segments_.holds_open_step();
            flushed_at_ = now;
            return;
        }
        if (!dirty_ && now - flushed_at_ >= heartbeat_milliseconds) {
            std::byte bytes[8];
            byte_writer out{bytes, sizeof bytes};
            encode(out, rows::heartbeat{segments_.now()});
            segments_.add(row_kind::heartbeat, out.view());
            flush(now);
        }
    }
    // All there is into the file. Whoever asks has handed over everything, so values that are not whole were given up.
    void flush(std::uint64_t now) noexcept {
        give_up();
        segments_.flush();
        dirty_ = false;
        flushed_at_ = now;
    }
    // The rest of the values that were coming in will not come.
    void give_up() noexcept {
        if (left_ == 0) { return; }
        left_ = 0;
        chains_.give_up();
        put_thinned(pending_.view());
        pending_.clear();
    }
    [[nodiscard]] std::uint64_t peak() const noexcept { return peak_; }

private:
    static constexpr std::uint64_t heartbeat_milliseconds = 10'000;
    static constexpr std::uint64_t open_milliseconds = 200;  // a step open for longer is shown unfinished

    void take_row(std::uint32_t tag, byte_view body) noexcept {
        dirty_ = true;
        auto const kind = static_cast<row_kind>(tag & ring_tag::kind);
        if ((tag & ring_tag::values) != 0) { return take_values(body); }
        if ((tag & ring_tag::values_inside) != 0) { return take_inside(body); }
        std::byte bytes[varint_limit + 8];
        byte_writer rest{bytes, sizeof bytes};
        if (kind == row_kind::close) {
            encode_stamp(rest, segments_.ordinal(), segments_.now());
        } else if ((tag & ring_tag::stamp) != 0) {
            rest.fixed(segments_.now());
        }
        segments_.add(kind, body, rest.view());
    }
    // The row waits until its values are in.
    void take_values(byte_view body) noexcept {
        auto const head = load<ring_tag::values_head>(body.data());
        pending_.clear();
        place_ = {segments_.offset(), 0, static_cast<std::uint8_t>(head.planes)};
        left_ = all_ = head.bytes;
        if (!pending_.append(body.subspan(sizeof head))) {  // no memory: at least the row
            left_ = 0;
            return put_thinned(body.subspan(sizeof head));
        }
        begin_values(head);
        if (left_ == 0) { put_place(pending_.view()); }
    }
    void take_inside(byte_view body) noexcept {
        auto const head = load<ring_tag::values_head>(body.data());
        byte_view const row = body.subspan(sizeof head).first(body.size() - sizeof head - head.bytes);
        place_ = {segments_.offset(), 0, static_cast<std::uint8_t>(head.planes)};
        bool const chained = head.chain > 0;
        if (chained) {
            pending_.clear();
            if (!pending_.append(row)) { return put_thinned(row); }
            begin_values(head);
        }
        byte_view const values = body.last(head.bytes);
        segments_.add_block(chained ? chains_.next(values) : values, place_.planes, true);
        put_place(chained ? pending_.view() : row);
    }
    void take_block(byte_view block) noexcept {
        if (left_ == 0) { return; }
        bool const alone = block.size() == all_;
        segments_.add_block(chained_ ? chains_.next(block) : block, place_.planes, alone);
        left_ -= block.size() < left_ ? block.size() : left_;
        if (left_ == 0) { put_place(pending_.view()); }
    }
    // In `pending_` is a row whose values come now: as differences, where its tensor is asked for in chains and has a base.
    void begin_values(ring_tag::values_head const& head) noexcept {
        chained_ = head.chain > 0;
        if (!chained_) { return; }
        byte_reader row{pending_.view().subspan(1)};
        std::uint64_t const tensor = row.varint();
        byte_view const like = pending_.view().last(head.described);
        if (chains_.begin(tensor, head.chain, like, head.bytes, segments_.segment())) {
            pending_.data()[0] |= std::byte{layout::observe_delta};
        }
    }
    void put_thinned(byte_view body) noexcept {
        auto const bits = static_cast<std::uint8_t>(body[0]);
        auto const first = static_cast<std::byte>((bits & ~(layout::observe_values | layout::observe_delta)) |
                                                  layout::observe_thinned);
        segments_.add(row_kind::observe, {&first, 1}, body.subspan(1));
    }
    void put_place(byte_view row) noexcept {
        place_.bytes = segments_.offset() - place_.offset;
        std::byte bytes[place_limit + varint_limit + layout::longest_chain * base_limit];
        byte_writer out{bytes, sizeof bytes};
        encode_place(out, place_);
        if (std::exchange(chained_, false)) { chains_.end(place_, out); }
        segments_.add(row_kind::observe, row, out.view());
        pending_.clear();
    }

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
    std::uint64_t closes_ = 0;
    std::uint64_t peak_ = 0;
    bool dirty_ = false;  // something came since the last flush
};

}  // namespace spotter::inline SPOTTER_ABI
