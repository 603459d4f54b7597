// SPDX-License-Identifier: Apache-2.0
// The bodies of sidecar.hpp.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/format/sidecar.hpp>

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
