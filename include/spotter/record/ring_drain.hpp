// SPDX-License-Identifier: Apache-2.0
// Record (L4): the writer's side of the ring: takes entries, adds what only the writer knows, and passes rows to the
// segment.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/format/buffer.hpp>
#include <spotter/format/encode.hpp>
#include <spotter/format/shuffle.hpp>
#include <spotter/hook/writer_task.hpp>
#include <spotter/record/entry.hpp>
#include <spotter/record/segment_writer.hpp>
#include <spotter/ring/byte_ring.hpp>

#include <array>

namespace spotter::inline SPOTTER_ABI {

// Stores the values of a tensor as differences to its last saved values. Used by the writer. Keeps one copy of each
// tensor that is recorded in chains. A payload is stored whole if it is the first of its segment, if the tensor's type,
// order or shape changed, if the chain has its full length, or if memory is exhausted.
class delta_chains {
public:
    // Begins the next payload. `like`: encoded type, order and shape. Returns true if it is stored as differences.
    bool begin(std::uint64_t tensor, unsigned longest, byte_view like, std::uint64_t bytes,
               std::uint32_t segment) noexcept;
    // Encodes a block of its values, in order, for storage. Valid until the next call.
    [[nodiscard]] byte_view next(byte_view block) noexcept;
    // The payload is complete and stored at `place`: appends the places of its bases to the row.
    void end(payload_place const& place, byte_writer& out) noexcept;
    // The rest of the payload will not come.
    void give_up() noexcept { now_ = nullptr; }

private:
    struct kept {
        byte_buffer values{};
        byte_buffer like{};
        std::array<payload_place, layout::longest_chain + 1> places{};  // the whole one first
        std::size_t count = 0;                                          // of places
        std::uint32_t segment = 0;
        bool whole = false;  // `values` are those of the last place
    };

    slot_array<kept> kept_{};
    kept* now_ = nullptr;  // the tensor of the current payload
    byte_buffer difference_{};
    std::size_t done_ = 0;  // bytes of its values so far
    bool linked_ = false;
};

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
#include <spotter/core/casts.hpp>

#include <algorithm>
#include <utility>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY bool delta_chains::begin(std::uint64_t tensor, unsigned longest, byte_view like, std::uint64_t bytes,
                                      std::uint32_t segment) noexcept {
    now_ = nullptr;
    done_ = 0;
    linked_ = false;
    if (longest == 0 || !kept_.grow(as_size(tensor) + 1)) { return false; }
    kept& it = kept_[as_size(tensor)];
    bool const same =
        it.whole && it.segment == segment && it.values.size() == bytes && std::ranges::equal(it.like.view(), like);
    linked_ = same && it.count <= (std::min)(std::size_t{longest}, layout::longest_chain) &&
              difference_.reserve(layout::block_bytes);
    it.whole = false;  // until the payload is complete
    if (!linked_) {
        it.count = 0;
        it.segment = segment;
        it.like.clear();
        it.values.clear();
        if (!it.like.append(like) || it.values.prepare(as_size(bytes)) == nullptr) { return false; }
        it.values.grow_by(as_size(bytes));
    }
    now_ = &it;
    return linked_;
}

SPOTTER_BODY byte_view delta_chains::next(byte_view block) noexcept {
    if (now_ == nullptr || block.size() > now_->values.size() - done_ || block.size() > layout::block_bytes) {
        return block;
    }
    std::byte* const before = now_->values.data() + done_;
    done_ += block.size();
    if (!linked_) {
        if (!block.empty()) { std::memcpy(before, block.data(), block.size()); }
        return block;
    }
    std::byte* const into = difference_.data();
    exclusive_or(block.data(), before, into, block.size());
    std::memcpy(before, block.data(), block.size());
    return {into, block.size()};
}

SPOTTER_BODY void delta_chains::end(payload_place const& place, byte_writer& out) noexcept {
    if (now_ == nullptr) { return; }
    kept& it = *std::exchange(now_, nullptr);
    if (linked_) {
        out.varint(it.count);
        payload_place at = place;
        for (std::size_t i = it.count; i-- > 0;) { encode_base(out, at, it.places[i]); }
    }
    it.places[it.count++] = place;
    it.whole = true;
}

SPOTTER_BODY bool ring_drain::go_on(rows::drained const& mark, byte_view packed, std::uint64_t done) noexcept {
    if (!pending_.append(mark.observe)) { return false; }
    begin_stream(mark);
    segments_.add_packed(packed);
    segments_.covers(ring_.taken());
    left_ -= done;
    if (left_ == 0) { put_place(pending_.view()); }
    return true;
}

SPOTTER_BODY bool ring_drain::take() noexcept {
    if (!ring_.peek().some) { return false; }
    std::uint64_t const full = ring_.backlog() + ring_.held();
    peak_ = full > peak_ ? full : peak_;
    ring_entry const entry = ring_.take();
    if ((entry.tag & ring_tag::block) != 0) {
        segments_.covers(ring_.taken());
        take_block(entry.bytes);
    } else {
        give_up();
        segments_.covers(ring_.taken());
        take_row(entry.tag, entry.bytes);
    }
    give_back();
    return true;
}

SPOTTER_BODY void ring_drain::make_room() noexcept {
    if (!segments_.marks()) { return; }
    if (left_ == 0) {
        segments_.reach(ring_.taken());
        segments_.flush();
        ring_.release(segments_.kept());
    } else if (streams_) {  // not streamed, the file does not show how many blocks it has
        segments_.write_values();
        if (!segments_.failed()) { ring_.release(); }
    }
}

SPOTTER_BODY void ring_drain::tick(std::uint64_t now) noexcept {
    if (left_ > 0) { return; }
    if (segments_.ordinal() != closes_) {
        closes_ = segments_.ordinal();
        closed_at_ = now;
    }
    if (dirty_ && now - flushed_at_ >= flush_milliseconds_) {
        if (segments_.marks()) {
            make_room();
        } else {
            segments_.flush(now - closed_at_ >= open_milliseconds);
        }
        dirty_ = segments_.holds_open_step();
        flushed_at_ = now;
        if (now - looked_at_ >= look_milliseconds) {
            segments_.look();
            looked_at_ = now;
        }
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

SPOTTER_BODY void ring_drain::flush(std::uint64_t now) noexcept {
    give_up();
    if (segments_.marks()) {
        make_room();
    } else {
        segments_.flush();
    }
    segments_.look();
    dirty_ = false;
    flushed_at_ = now;
}

SPOTTER_BODY void ring_drain::give_up() noexcept {
    if (left_ == 0) { return; }
    left_ = 0;
    chains_.give_up();
    put_thinned(pending_.view());
    pending_.clear();
}

SPOTTER_BODY void ring_drain::give_back() noexcept {
    if (!segments_.marks()) { return ring_.release(); }
    if (ring_.held() >= ring_.size() / (left_ == 0 ? 4 : 8)) { return make_room(); }
    ring_.release(segments_.kept());
}

SPOTTER_BODY bool ring_drain::must_stream(byte_view body, std::uint64_t bytes) noexcept {
    if (!segments_.marks()) { return false; }
    std::uint64_t const room = ring_.size() / 4;
    if (body.size() + bytes > room) { return true; }
    if (ring_.held() + bytes > room) {  // write out what came before
        segments_.flush();
        ring_.release(segments_.kept());
    }
    return false;
}

SPOTTER_BODY void ring_drain::begin_stream(rows::drained const& mark) noexcept {
    streams_ = true;
    std::byte bytes[drained_limit];
    byte_writer head{bytes, sizeof bytes};
    encode(head, mark);
    segments_.covers(mark.position);
    segments_.add(row_kind::drained, head.view(), mark.observe);
    segments_.flush();
    left_ = all_ = mark.bytes;
    place_ = {segments_.offset(), 0, mark.form};
}

SPOTTER_BODY void ring_drain::take_row(std::uint32_t tag, byte_view body) noexcept {
    dirty_ = true;
    auto const kind = static_cast<row_kind>(tag & ring_tag::kind);
    if (kind == row_kind::run_begin) { return segments_.begin_anew(body); }
    if ((tag & ring_tag::values) != 0) { return take_values(body); }
    if ((tag & ring_tag::values_inside) != 0) { return take_inside(body); }
    std::byte bytes[varint_limit + 8];
    byte_writer rest{bytes, sizeof bytes};
    if (kind == row_kind::close) {
        if ((tag & ring_tag::timed) != 0 && body.size() >= sizeof(ring_tag::step_stamps)) {
            auto const times = load<ring_tag::step_stamps>(body.last(sizeof(ring_tag::step_stamps)).data());
            body = body.first(body.size() - sizeof times);
            segments_.time({segments_.ordinal(), times.begun, times.closed});
            ++loop_.closes;
            loop_.closed_at = 1e-9 * static_cast<double>(times.closed);
        }
        encode_stamp(rest, segments_.ordinal(), segments_.now());
    } else if ((tag & ring_tag::stamp) != 0) {
        rest.fixed(segments_.now());
    }
    segments_.add(kind, body, rest.view());
}

SPOTTER_BODY void ring_drain::take_values(byte_view body) noexcept {
    auto const head = load<ring_tag::values_head>(body.data());
    byte_view const row = body.subspan(sizeof head);
    payload_form const form{static_cast<std::uint8_t>(head.form)};
    pending_.clear();
    if (!pending_.append(row)) { return put_thinned(row); }  // out of memory: keep at least the row
    streams_ = must_stream(body, head.bytes);
    if (streams_) {
        begin_stream({ring_.taken(), head.bytes, form, row});
    } else {
        place_ = {segments_.offset(), 0, form};
        left_ = all_ = head.bytes;
    }
    begin_chain(head);
    if (left_ == 0) { put_place(pending_.view()); }
}

SPOTTER_BODY void ring_drain::take_inside(byte_view body) noexcept {
    auto const head = load<ring_tag::values_head>(body.data());
    auto const size = static_cast<std::size_t>(head.bytes);  // it fits: the values are in the entry
    byte_view const row = body.subspan(sizeof head).first(body.size() - sizeof head - size);
    place_ = {segments_.offset(), 0, {static_cast<std::uint8_t>(head.form)}};
    bool const chained = is_chained(head);
    if (chained) {
        pending_.clear();
        if (!pending_.append(row)) { return put_thinned(row); }
        begin_chain(head);
    }
    byte_view const values = body.last(size);
    segments_.add_block(chained ? chains_.next(values) : values, place_.form, true);
    put_place(chained ? pending_.view() : row);
}

SPOTTER_BODY void ring_drain::take_block(byte_view block) noexcept {
    if (left_ == 0) { return; }
    bool const alone = block.size() == all_;
    segments_.add_block(chained_ ? chains_.next(block) : block, place_.form, alone);
    left_ -= block.size() < left_ ? block.size() : left_;
    if (left_ == 0) { put_place(pending_.view()); }
}

SPOTTER_BODY bool ring_drain::is_chained(ring_tag::values_head const& head) const noexcept {
    return head.chain > 0 && !segments_.marks();
}

SPOTTER_BODY void ring_drain::begin_chain(ring_tag::values_head const& head) noexcept {
    chained_ = is_chained(head);
    if (!chained_) { return; }
    byte_reader row{pending_.view().subspan(1)};
    std::uint64_t const tensor = row.varint();
    byte_view const like = pending_.view().last(head.described);
    if (chains_.begin(tensor, head.chain, like, head.bytes, segments_.segment())) {
        pending_.data()[0] |= std::byte{layout::observe_delta};
    }
}

SPOTTER_BODY void ring_drain::put_thinned(byte_view body) noexcept {
    auto const bits = static_cast<std::uint8_t>(body[0]);
    auto const first =
        static_cast<std::byte>((bits & ~(layout::observe_values | layout::observe_delta)) | layout::observe_thinned);
    segments_.add(row_kind::observe, {&first, 1}, body.subspan(1));
}

SPOTTER_BODY void ring_drain::put_place(byte_view row) noexcept {
    place_.bytes = segments_.offset() - place_.offset;
    std::byte bytes[place_limit + varint_limit + layout::longest_chain * base_limit];
    byte_writer out{bytes, sizeof bytes};
    encode_place(out, place_);
    if (std::exchange(chained_, false)) { chains_.end(place_, out); }
    segments_.add(row_kind::observe, row, out.view());
    pending_.clear();
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
