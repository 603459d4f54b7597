// SPDX-License-Identifier: Apache-2.0
// Format (L1): the frames of a segment: the head, the row frames, and the length of zstd frames (without zstd).
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/format/buffer.hpp>
#include <spotter/format/rows.hpp>

namespace spotter::inline SPOTTER_ABI {

// The first 64 bytes of a segment: they identify the run and the segment.
struct segment_head {
    std::uint16_t version = layout::version;  // of the format
    std::uint16_t draft = layout::draft;      // 0: frozen
    std::uint32_t number = 0;                 // of the segment
    std::uint64_t run_id = 0;                 // the same in every segment of a run
    std::uint64_t first_ordinal = 0;          // of its first close
    std::uint32_t worker = 0;                 // the writing worker
    std::uint32_t attempt = 0;                // of the run, from 0
    double time = 0;                          // when the segment was begun; seconds since 1970
};

// A row frame of a segment; `body` holds its rows.
struct row_frame {
    std::uint64_t offset = 0;         // in the segment
    std::uint64_t bytes = 0;          // of the whole frame
    std::uint64_t previous_end = 0;   // end of the row frame (or head) before it; payload is in between
    std::uint64_t first_ordinal = 0;  // closes before it
    std::uint32_t rows = 0;           // rows of any kind; a steps row is one
    std::uint32_t closes = 0;         // steps closed in it, with packed ones
    std::uint32_t values = 0;         // observations and scalars
    std::uint32_t flags = 0;          // layout::has_declares and so on
    byte_view body{};                 // a view of the segment; read it with row_reader

    [[nodiscard]] std::uint64_t end() const noexcept { return offset + bytes; }
};

// Appends the whole head frame, with its checksum, to `out`; errc::out_of_memory.
[[nodiscard]] error encode_head(segment_head const& head, byte_buffer& out) noexcept;

// errc::not_a_run if these are not the first bytes of a segment, corrupt if the checksum is wrong, unknown_version for
// another version's.
[[nodiscard]] result<segment_head> decode_head(byte_view from) noexcept;

// Appends a row in two parts to `out`. False where memory is exhausted.
[[nodiscard]] bool append_row(byte_buffer& out, row_kind kind, byte_view body, byte_view rest = {}) noexcept;

// Collects rows and makes a frame of them. Reusable: `seal` returns the frame, `reset` begins the next.
class row_frame_builder {
public:
    // Adds a row: its kind, and its body in two parts. False where memory is exhausted.
    bool add(row_kind kind, byte_view body, byte_view rest = {}) noexcept;
    // Counts the content of the steps row that was added last.
    void count_packed(std::uint32_t closes, std::uint32_t values) noexcept { closes_ += closes, values_ += values; }
    // The whole frame for this `offset` of the segment; valid until the next call. Empty where memory is exhausted.
    [[nodiscard]] byte_view seal(std::uint64_t offset, std::uint64_t previous_end, std::uint64_t first_ordinal,
                                 std::uint32_t more_flags = 0) noexcept;
    void reset() noexcept;  // removes the rows, keeps the memory

    // Current size of the frame.
    [[nodiscard]] std::size_t size() const noexcept;
    [[nodiscard]] bool empty() const noexcept { return rows_ == 0; }
    [[nodiscard]] std::uint32_t rows() const noexcept { return rows_; }  // since reset
    // Their closes, with packed ones.
    [[nodiscard]] std::uint32_t closes() const noexcept { return closes_; }
    // Their observations and scalars, with packed ones.
    [[nodiscard]] std::uint32_t values() const noexcept { return values_; }
    [[nodiscard]] std::uint32_t flags() const noexcept { return flags_; }  // of these rows: layout::has_declares ...

private:
    bool add_nothing() noexcept;

    byte_buffer bytes_;
    std::uint32_t rows_ = 0, closes_ = 0, values_ = 0, flags_ = 0;
};

// What begins at an offset of a segment. cut: it extends beyond the end of the bytes.
enum class frame_kind : std::uint8_t { head, rows, values, cut, bad };

struct frame_extent {  // its kind and size
    frame_kind kind = frame_kind::bad;
    std::uint64_t bytes = 0;    // of the whole frame; 0 for cut and bad
    std::uint64_t content = 0;  // of a zstd frame: decompressed size
};

// Reads bytes of a segment into their place in memory before they are accessed, if not all are there. Unreadable bytes
// are zeros, and treated as damage.
struct byte_supply {
    void (*bring)(void* context, std::uint64_t from, std::uint64_t bytes) noexcept = nullptr;  // clamps the range
    void* context = nullptr;

    void operator()(std::uint64_t from, std::uint64_t bytes) const noexcept { bring(context, from, bytes); }
};

// Measures a zstd frame of the kind that spotter writes (with content size and checksum, without dictionary) from its
// block headers (RFC 8878, section 3.1.1). Does not check its content.
[[nodiscard]] frame_extent measure_zstd_frame(byte_view from) noexcept;

// The frame at `offset`. Head and row frames are only measured; their checksum is not checked.
[[nodiscard]] frame_extent measure_frame(byte_view segment, std::uint64_t offset,
                                         byte_supply const* supply = nullptr) noexcept;

// The row frame at `offset`, after checking its type, offset and checksum.
[[nodiscard]] result<row_frame> decode_row_frame(byte_view segment, std::uint64_t offset) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/casts.hpp>
#include <spotter/format/bytes.hpp>
#include <spotter/format/checksum.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY error encode_head(segment_head const& head, byte_buffer& out) noexcept {
    std::byte bytes[layout::head_bytes]{};
    byte_writer into{bytes, sizeof bytes};
    into.fixed(layout::head_magic);
    into.fixed(static_cast<std::uint32_t>(layout::head_bytes - layout::skippable_bytes));
    into.raw(bytes_of("spotter", 8));
    into.fixed(head.version);
    into.fixed(head.draft);
    into.fixed(head.number);
    into.fixed(head.run_id);
    into.fixed(head.first_ordinal);
    into.fixed(head.worker);
    into.fixed(head.attempt);
    into.fixed(head.time);
    into.fixed(checksum(into.view()));
    if (!out.append(into.view())) {
        return {errc::out_of_memory, "no memory for the head of a segment; recording stops here"};
    }
    return {};
}

SPOTTER_BODY result<segment_head> decode_head(byte_view from) noexcept {
    if (from.size() < layout::head_bytes || load<std::uint32_t>(from.data()) != layout::head_magic ||
        std::memcmp(from.data() + 8, "spotter", 8) != 0) {
        return {errc::not_a_run,
                "this is no spotter segment: its first 64 bytes are no head; look for a file named 000000.spot"};
    }
    byte_view const covered = from.first(layout::head_bytes - 8);
    if (checksum(covered) != load<std::uint64_t>(from.data() + covered.size()) ||
        load<std::uint32_t>(from.data() + 4) != layout::head_bytes - layout::skippable_bytes) {
        return {errc::corrupt,
                "the head of this segment is damaged (its checksum differs); its rows can still be read"};
    }
    byte_reader in{covered.subspan(16)};
    segment_head head{};
    head.version = in.fixed<std::uint16_t>();
    head.draft = in.fixed<std::uint16_t>();
    head.number = in.fixed<std::uint32_t>();
    head.run_id = in.fixed<std::uint64_t>();
    head.first_ordinal = in.fixed<std::uint64_t>();
    head.worker = in.fixed<std::uint32_t>();
    head.attempt = in.fixed<std::uint32_t>();
    head.time = in.fixed<double>();
    std::uint16_t const known_draft = head.version == layout::version ? layout::draft : 0;  // older ones are frozen
    if (head.version < layout::oldest_version || head.version > layout::version || head.draft != known_draft) {
        error why{errc::unknown_version, {}};
        why.what << "this segment has format version " << head.version << (head.draft != 0 ? " (draft " : "");
        if (head.draft != 0) { why.what << head.draft << ')'; }
        why.what << ", this library reads versions " << layout::oldest_version << " to " << layout::version
                 << ": read it with the library that wrote it";
        return why;
    }
    return head;
}

SPOTTER_BODY bool append_row(byte_buffer& out, row_kind kind, byte_view body, byte_view rest) noexcept {
    std::size_t const size = body.size() + rest.size();
    std::byte* const into = out.prepare(1 + varint_limit + size);
    if (into == nullptr) { return false; }
    byte_writer row{into, 1 + varint_limit + size};
    row.fixed(kind);
    row.varint(size);
    row.raw(body);
    row.raw(rest);
    out.grow_by(row.size());
    return true;
}

namespace detail {

// The flag that a row of this kind sets in its frame's head.
[[nodiscard]] constexpr std::uint32_t flag_of(row_kind kind) noexcept {
    switch (kind) {
        case row_kind::run_begin:
        case row_kind::declare:
            return layout::has_declares;
        case row_kind::finding:
            return layout::has_findings;
        case row_kind::drops:
            return layout::has_drops;
        case row_kind::run_end:
            return layout::has_run_end;
        case row_kind::stay:
            return layout::has_stays;
        case row_kind::observe:
        case row_kind::scalar:
        case row_kind::close:
        case row_kind::heartbeat:
        case row_kind::steps:
        case row_kind::drained:
        case row_kind::feature:
        case row_kind::times:
            break;
    }
    return 0;
}

}  // namespace detail

SPOTTER_BODY bool row_frame_builder::add(row_kind kind, byte_view body, byte_view rest) noexcept {
    if (bytes_.empty() && !add_nothing()) { return false; }
    if (!append_row(bytes_, kind, body, rest)) { return false; }
    ++rows_;
    values_ += kind == row_kind::observe || kind == row_kind::scalar ? 1U : 0U;
    closes_ += kind == row_kind::close ? 1U : 0U;
    flags_ |= detail::flag_of(kind);
    return true;
}

SPOTTER_BODY byte_view row_frame_builder::seal(std::uint64_t offset, std::uint64_t previous_end,
                                               std::uint64_t first_ordinal, std::uint32_t more_flags) noexcept {
    if (bytes_.empty() && !add_nothing()) { return {}; }
    std::size_t const rows_end = bytes_.size();
    std::byte* const tail = bytes_.prepare(layout::row_tail_bytes);
    if (tail == nullptr) { return {}; }
    flags_ |= more_flags;
    byte_writer head{bytes_.data(), layout::row_head_bytes};
    head.fixed(layout::row_magic);
    head.fixed(static_cast<std::uint32_t>(rows_end + layout::row_tail_bytes - layout::skippable_bytes));
    head.fixed(offset);
    head.fixed(previous_end);
    head.fixed(first_ordinal);
    head.fixed(rows_);
    head.fixed(closes_);
    head.fixed(values_);
    head.fixed(flags_);
    store(tail, checksum({bytes_.data(), rows_end}));
    return {bytes_.data(), rows_end + layout::row_tail_bytes};
}

SPOTTER_BODY void row_frame_builder::reset() noexcept {
    bytes_.clear();
    rows_ = closes_ = values_ = flags_ = 0;
}

SPOTTER_BODY std::size_t row_frame_builder::size() const noexcept {
    return bytes_.empty() ? 0 : bytes_.size() + layout::row_tail_bytes;
}

SPOTTER_BODY bool row_frame_builder::add_nothing() noexcept {
    if (bytes_.prepare(layout::row_head_bytes) == nullptr) { return false; }
    bytes_.grow_by(layout::row_head_bytes);
    return true;
}

namespace detail {

// `bring(from, bytes)` reads bytes of the frame before they are accessed.
template <class Bring>
[[nodiscard]] SPOTTER_INLINE frame_extent measure_zstd(byte_view from, Bring&& bring) noexcept {
    constexpr frame_extent cut{frame_kind::cut, 0, 0};
    constexpr frame_extent bad{frame_kind::bad, 0, 0};
    if (from.size() < 5) { return cut; }
    bring(0, 14);  // the longest frame header
    auto const bits = static_cast<std::uint8_t>(from[4]);
    bool const single = (bits & 0x20) != 0;
    if ((bits & 0x18) != 0 || (bits & 0x04) == 0 || (bits & 0x03) != 0) { return bad; }
    std::size_t at = single ? 5 : 6;
    std::size_t const wide[] = {single ? std::size_t{1} : std::size_t{0}, 2, 4, 8};
    std::size_t const field = wide[bits >> 6];
    if (field == 0) { return bad; }
    if (from.size() < at + field) { return cut; }
    std::uint64_t content = 0;
    std::memcpy(&content, from.data() + at, field);
    if (field == 2) { content += 256; }
    at += field;
    for (bool last = false; !last;) {
        if (from.size() < at + 3) { return cut; }
        bring(at, 3);
        std::uint32_t block = 0;
        std::memcpy(&block, from.data() + at, 3);
        last = (block & 1) != 0;
        std::uint32_t const type = (block >> 1) & 3;
        std::uint32_t const size = block >> 3;
        if (type == 3 || size > (128U << 10)) { return bad; }
        at += 3 + (type == 1 ? 1 : size);
    }
    at += 4;
    if (from.size() < at) { return cut; }
    return {frame_kind::values, at, content};
}

}  // namespace detail

SPOTTER_BODY frame_extent measure_zstd_frame(byte_view from) noexcept {
    return detail::measure_zstd(from, [](std::size_t, std::size_t) {});
}

SPOTTER_BODY frame_extent measure_frame(byte_view segment, std::uint64_t offset, byte_supply const* supply) noexcept {
    if (offset > segment.size()) { return {}; }
    byte_view const from = segment.subspan(as_size(offset));
    if (from.size() < 4) { return {frame_kind::cut, 0, 0}; }
    if (supply != nullptr) { (*supply)(offset, layout::skippable_bytes); }
    auto const magic = load<std::uint32_t>(from.data());
    if (magic == layout::zstd_magic) {
        if (supply == nullptr) { return measure_zstd_frame(from); }
        return detail::measure_zstd(from, [&](std::size_t at, std::size_t bytes) { (*supply)(offset + at, bytes); });
    }
    if (magic != layout::head_magic && magic != layout::row_magic) { return {}; }
    if (from.size() < layout::skippable_bytes) { return {frame_kind::cut, 0, 0}; }
    std::uint64_t const bytes = layout::skippable_bytes + std::uint64_t{load<std::uint32_t>(from.data() + 4)};
    if (from.size() < bytes) { return {frame_kind::cut, 0, 0}; }
    return {magic == layout::head_magic ? frame_kind::head : frame_kind::rows, bytes, 0};
}

SPOTTER_BODY result<row_frame> decode_row_frame(byte_view segment, std::uint64_t offset) noexcept {
    error damaged{errc::corrupt, {}};
    damaged.what << "the row frame at byte " << offset
                 << " of a segment is damaged; it was left out, the rest can be read";
    frame_extent const extent = measure_frame(segment, offset);
    if (extent.kind != frame_kind::rows || extent.bytes < layout::row_head_bytes + layout::row_tail_bytes) {
        return damaged;
    }
    byte_view const whole = segment.subspan(as_size(offset), static_cast<std::size_t>(extent.bytes));
    byte_view const covered = whole.first(whole.size() - layout::row_tail_bytes);
    byte_reader in{covered.subspan(layout::skippable_bytes)};
    row_frame frame{};
    frame.offset = in.fixed<std::uint64_t>();
    frame.bytes = extent.bytes;
    frame.previous_end = in.fixed<std::uint64_t>();
    frame.first_ordinal = in.fixed<std::uint64_t>();
    frame.rows = in.fixed<std::uint32_t>();
    frame.closes = in.fixed<std::uint32_t>();
    frame.values = in.fixed<std::uint32_t>();
    frame.flags = in.fixed<std::uint32_t>();
    frame.body = in.raw(in.left());
    if (frame.offset != offset || frame.previous_end > offset) { return damaged; }
    if (checksum(covered) != load<std::uint64_t>(whole.data() + covered.size())) { return damaged; }
    return frame;
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
