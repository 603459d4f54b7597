// SPDX-License-Identifier: Apache-2.0
// Format (L1): the sidecar: the places and steps of groups of row frames, 112 bytes for each. A cache; it can be
// rebuilt from the segment.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/format/steps_reader.hpp>
#include <spotter/format/walker.hpp>

namespace spotter::inline SPOTTER_ABI {

// The range of step indices of one mode in some rows; empty if first > last.
struct step_span {
    std::uint64_t first = ~std::uint64_t{0};  // the smallest index
    std::uint64_t last = 0;                   // the largest index

    void add(std::uint64_t index) noexcept;  // in any order
    // Within the range; there need not be a row of that step.
    [[nodiscard]] bool holds(std::uint64_t index) const noexcept { return first <= index && index <= last; }
};

namespace detail {

// Calls take(step_id) for the first and the last step of the rows of a frame, and maybe for others.
template <class Take>
void each_step(byte_view rows, Take&& take) noexcept {
    for (byte_reader in{rows}; in.left() > 0;) {
        auto const kind = static_cast<row_kind>(in.fixed<std::uint8_t>());
        byte_reader body{in.raw(in.varint())};
        if (kind == row_kind::observe || kind == row_kind::scalar) {
            auto const bits = body.fixed<std::uint8_t>();
            (void)body.varint();
            if (kind == row_kind::scalar && (bits & layout::scalar_step) == 0) { continue; }
            step_id const step = take_step(body);
            if (!body.bad()) { take(step); }
        } else if (kind == row_kind::close) {
            step_id const step = take_step(body);
            if (!body.bad()) { take(step); }
        } else if (kind == row_kind::steps) {
            steps_reader::each_run(body, [&](step_id first, step_id last) {
                take(first);
                take(last);
            });
        }
    }
}

}  // namespace detail

// A group of adjacent row frames without payload in between.
struct side_place {
    std::uint64_t offset = 0;         // of its first row frame, in the segment
    std::uint64_t end = 0;            // end of its last frame
    std::uint64_t previous_end = 0;   // end of the row frame before it: shows a missing place
    std::uint64_t first_ordinal = 0;  // closes before it
    std::uint32_t closes = 0;         // in it, with packed ones
    std::uint32_t frames = 0;         // 0: empty
    std::uint32_t rows = 0;           // of all frames; a steps row is one
    std::uint32_t values = 0;         // observations and scalars
    std::uint32_t flags = 0;          // of all frames: layout::has_declares and so on
    step_span spans[3]{};             // for each mode

    // Whether a frame at this offset belongs to the group.
    [[nodiscard]] bool takes(std::uint64_t frame_offset) const noexcept;
    void add(row_frame const& frame) noexcept;  // a frame that takes() accepts; reads the steps of its rows
    // The group may hold a row of this step.
    [[nodiscard]] bool may_hold(step_id step) const noexcept;
};

// Writes layout::place_bytes, with the checksum.
void encode_side_place(side_place const& place, std::byte* into) noexcept;

// Place `index` of a sidecar, if it exists, is intact, and is within a segment of `segment_bytes`.
[[nodiscard]] result<side_place> decode_side_place(byte_view side, std::uint64_t index,
                                                   std::uint64_t segment_bytes) noexcept;

// Repeats the declarations of a closed segment behind the places of its sidecar, in row frames. Their offsets count
// from the end of the places. A run_begin comes first and identifies run and attempt.
class side_declarations {
public:
    explicit side_declarations(byte_buffer& out) noexcept : out_{out} {}

    // False where memory is exhausted.
    [[nodiscard]] bool put(row_kind kind, byte_view body) noexcept;
    // Call it after the last row.
    [[nodiscard]] bool seal() noexcept;

private:
    byte_buffer& out_;
    row_frame_builder rows_;
    std::uint64_t offset_ = 0;
};

// The number of places in a sidecar, with damaged ones: up to the declarations.
[[nodiscard]] std::uint64_t side_places(byte_view side) noexcept;

// Calls take(row_view) for the declarations of a sidecar, and the run_begin before them, if they belong to the
// segment's run and attempt. `rest`: the sidecar behind its places.
template <class Take>
void each_side_declaration(byte_view rest, byte_view segment, Take&& take) {
    if (rest.empty() || segment.size() < layout::head_bytes) { return; }
    auto const head = decode_head(segment);
    bool ours = false;
    frame_walker walk{rest};
    for (walked what = walk.next(); what != walked::end && head; what = walk.next()) {
        if (what != walked::rows) { continue; }
        for (byte_reader in{walk.frame().body}; in.left() > 0;) {
            row_view row{};
            row.kind = static_cast<row_kind>(in.fixed<std::uint8_t>());
            row.body = row.stored = in.raw(in.varint());
            rows::run_begin begin{};
            if (row.kind == row_kind::run_begin) {
                ours = !decode(row, begin) && begin.run_id == head->run_id && begin.attempt == head->attempt;
            }
            bool const known = row.kind == row_kind::run_begin || row.kind == row_kind::declare;
            if (ours && known && !in.bad()) { take(row); }
        }
    }
}

namespace detail {

// Collects the last declarations of a segment.
class declared_rows {
public:
    // The rows of the segment replace those of the `older` sidecar.
    declared_rows(byte_view segment, byte_view older) noexcept;
    void take(row_frame const& frame) noexcept;
    void take(row_kind kind, byte_view body) noexcept;
    // False where memory is exhausted.
    [[nodiscard]] bool put(byte_buffer& out) noexcept;

private:
    std::size_t segment_bytes_;
    slot_array<byte_view> list_{};
    byte_view begin_{};
    bool any_ = false, last_ = false, failed_ = false;
};

}  // namespace detail

// Rebuilds the sidecar of a segment. Damaged ranges end a group. Declarations that the segment has lost may be in the
// `older` sidecar.
[[nodiscard]] error rebuild_sidecar(byte_view segment, byte_buffer& out, byte_view older = {}) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/casts.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY void step_span::add(std::uint64_t index) noexcept {
    first = index < first ? index : first;
    last = index > last ? index : last;
}

SPOTTER_BODY bool side_place::takes(std::uint64_t frame_offset) const noexcept {
    return frames == 0 || (frame_offset == end && end - offset < layout::place_rows_bytes);
}

SPOTTER_BODY void side_place::add(row_frame const& frame) noexcept {
    if (frames == 0) {
        offset = frame.offset;
        previous_end = frame.previous_end;
        first_ordinal = frame.first_ordinal;
    }
    end = frame.end();
    closes += frame.closes;
    ++frames;
    rows += frame.rows;
    values += frame.values;
    flags |= frame.flags;
    detail::each_step(frame.body, [&](step_id step) { spans[static_cast<std::size_t>(step.mode)].add(step.index); });
}

SPOTTER_BODY bool side_place::may_hold(step_id step) const noexcept {
    return spans[static_cast<std::size_t>(step.mode)].holds(step.index);
}

SPOTTER_BODY void encode_side_place(side_place const& place, std::byte* into) noexcept {
    byte_writer out{into, layout::place_bytes};
    out.fixed(layout::place_magic);
    out.fixed(place.frames);
    out.fixed(place.offset);
    out.fixed(place.end);
    out.fixed(place.previous_end);
    out.fixed(place.first_ordinal);
    out.fixed(place.closes);
    out.fixed(place.rows);
    out.fixed(place.values);
    out.fixed(place.flags);
    for (step_span const& each : place.spans) {
        out.fixed(each.first);
        out.fixed(each.last);
    }
    out.fixed(checksum(out.view()));
}

SPOTTER_BODY result<side_place> decode_side_place(byte_view side, std::uint64_t index,
                                                  std::uint64_t segment_bytes) noexcept {
    if (index >= side.size() / layout::place_bytes) {
        return {errc::no_more_data, "the sidecar has no such place; walk the segment from the end of the last one"};
    }
    byte_view const bytes = side.subspan(as_size(index) * layout::place_bytes, layout::place_bytes);
    byte_reader in{bytes};
    side_place place{};
    auto const magic = in.fixed<std::uint32_t>();
    place.frames = in.fixed<std::uint32_t>();
    place.offset = in.fixed<std::uint64_t>();
    place.end = in.fixed<std::uint64_t>();
    place.previous_end = in.fixed<std::uint64_t>();
    place.first_ordinal = in.fixed<std::uint64_t>();
    place.closes = in.fixed<std::uint32_t>();
    place.rows = in.fixed<std::uint32_t>();
    place.values = in.fixed<std::uint32_t>();
    place.flags = in.fixed<std::uint32_t>();
    for (step_span& each : place.spans) {
        each.first = in.fixed<std::uint64_t>();
        each.last = in.fixed<std::uint64_t>();
    }
    bool const sound =
        magic == layout::place_magic && in.fixed<std::uint64_t>() == checksum(bytes.first(layout::place_bytes - 8));
    if (!sound || place.previous_end > place.offset || place.offset > place.end || place.end > segment_bytes) {
        return {errc::corrupt, "a place of the sidecar is damaged; the segment holds everything, walk it instead"};
    }
    return place;
}

SPOTTER_BODY bool side_declarations::put(row_kind kind, byte_view body) noexcept {
    bool const full = !rows_.empty() && rows_.size() + 1 + varint_limit + body.size() > layout::row_frame_target;
    return (!full || seal()) && rows_.add(kind, body);
}

SPOTTER_BODY bool side_declarations::seal() noexcept {
    byte_view const bytes = rows_.seal(offset_, offset_, 0);
    if (bytes.empty() || !out_.append(bytes)) { return false; }
    offset_ += bytes.size();
    rows_.reset();
    return true;
}

SPOTTER_BODY std::uint64_t side_places(byte_view side) noexcept {
    std::uint64_t const most = side.size() / layout::place_bytes;
    std::uint64_t count = 0;
    while (count < most && load<std::uint32_t>(side.data() + count * layout::place_bytes) != layout::row_magic) {
        ++count;
    }
    return count;
}

}  // namespace spotter::inline SPOTTER_ABI

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY declared_rows::declared_rows(byte_view segment, byte_view older) noexcept
    : segment_bytes_{segment.size()} {
    byte_view const rest = older.subspan(as_size(side_places(older)) * layout::place_bytes);
    each_side_declaration(rest, segment, [this](row_view row) { take(row.kind, row.body); });
}

SPOTTER_BODY void declared_rows::take(row_frame const& frame) noexcept {
    last_ = (frame.flags & layout::last_of_segment) != 0;
    for (byte_reader in{frame.body}; in.left() > 0 && (frame.flags & layout::has_declares) != 0;) {
        auto const kind = static_cast<row_kind>(in.fixed<std::uint8_t>());
        take(kind, in.raw(in.varint()));
    }
}

SPOTTER_BODY void declared_rows::take(row_kind kind, byte_view body) noexcept {
    if (kind == row_kind::run_begin) { begin_ = body; }
    if (kind != row_kind::declare || body.empty()) { return; }
    std::uint64_t const id = byte_reader{body}.varint();
    if (id >= segment_bytes_) { return; }  // not an id: a segment declares every id below its largest
    failed_ = failed_ || !list_.grow(static_cast<std::size_t>(id) + 1);
    if (!failed_) { list_[static_cast<std::size_t>(id)] = body; }
    any_ = true;
}

SPOTTER_BODY bool declared_rows::put(byte_buffer& out) noexcept {
    if (!any_ || !last_) { return true; }
    side_declarations side{out};
    bool good = !failed_ && side.put(row_kind::run_begin, begin_);
    for (byte_view const each : list_) { good = good && (each.empty() || side.put(row_kind::declare, each)); }
    return good && side.seal();
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

SPOTTER_COLD_BODY error rebuild_sidecar(byte_view segment, byte_buffer& out, byte_view older) noexcept {
    frame_walker walk{segment};
    side_place const none{};  // g++ 12 cannot compile a temporary in the lambda
    side_place group = none;
    detail::declared_rows declared{segment, older};
    auto const put = [&] {
        std::byte bytes[layout::place_bytes];
        encode_side_place(group, bytes);
        if (group.frames > 0) { (void)out.append({bytes, sizeof bytes}); }
        group = none;
    };
    for (walked what = walk.next(); what != walked::end; what = walk.next()) {
        if (what == walked::corrupt || (what == walked::rows && !group.takes(walk.frame().offset))) { put(); }
        if (what != walked::rows) { continue; }
        group.add(walk.frame());
        declared.take(walk.frame());
    }
    put();
    if (!declared.put(out) || out.failed()) {
        return {errc::out_of_memory, "no memory to rebuild a sidecar; the segment can be read without it"};
    }
    return {};
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
