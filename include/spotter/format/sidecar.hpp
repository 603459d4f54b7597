// SPDX-License-Identifier: Apache-2.0
// Format (L1): the sidecar: where groups of row frames are, 64 bytes each. A cache; the segment alone can rebuild it.
#pragma once

#include <spotter/format/walker.hpp>

namespace spotter::inline SPOTTER_ABI {

// One group of row frames that follow one another: from the first byte of the first to the last byte of the last.
struct side_place {
    std::uint64_t offset = 0;
    std::uint64_t end = 0;
    std::uint64_t first_ordinal = 0;  // closes before it
    std::uint32_t closes = 0;
    std::uint32_t frames = 0;
    std::uint32_t rows = 0;
    std::uint32_t values = 0;  // observations and scalars
    std::uint32_t flags = 0;   // layout::has_declares and so on, of any frame in it

    // False when the group is full enough that the next frame begins another.
    [[nodiscard]] bool open() const noexcept {
        return frames == 0 || (row_bytes < layout::place_rows_bytes && end - offset < layout::place_span_bytes);
    }
    void add(row_frame const& frame) noexcept {
        if (frames == 0) {
            offset = frame.offset;
            first_ordinal = frame.first_ordinal;
        }
        end = frame.end();
        closes += frame.closes;
        ++frames;
        rows += frame.rows;
        values += frame.values;
        flags |= frame.flags;
        row_bytes += frame.bytes;
    }

    std::uint64_t row_bytes = 0;  // not stored: of its frames, without the payload between them
};

inline void encode_side_place(side_place const& place, std::byte* into) noexcept {
    byte_writer out{into, layout::place_bytes};
    out.fixed(layout::place_magic);
    out.fixed(place.frames);
    out.fixed(place.offset);
    out.fixed(place.end);
    out.fixed(place.first_ordinal);
    out.fixed(place.closes);
    out.fixed(place.rows);
    out.fixed(place.values);
    out.fixed(place.flags);
    out.fixed(std::uint64_t{0});  // reserved
    out.fixed(checksum(out.view()));
}

// Place `index` of a sidecar, if it is there, whole, and within a segment of `segment_bytes`.
[[nodiscard]] inline result<side_place> decode_side_place(byte_view side, std::uint64_t index,
                                                          std::uint64_t segment_bytes) noexcept {
    if (index >= side.size() / layout::place_bytes) {
        return {errc::no_more_data, "the sidecar has no such place; walk the segment from the end of the last one"};
    }
    byte_view const bytes = side.subspan(static_cast<std::size_t>(index) * layout::place_bytes, layout::place_bytes);
    byte_reader in{bytes};
    side_place place{};
    auto const magic = in.fixed<std::uint32_t>();
    place.frames = in.fixed<std::uint32_t>();
    place.offset = in.fixed<std::uint64_t>();
    place.end = in.fixed<std::uint64_t>();
    place.first_ordinal = in.fixed<std::uint64_t>();
    place.closes = in.fixed<std::uint32_t>();
    place.rows = in.fixed<std::uint32_t>();
    place.values = in.fixed<std::uint32_t>();
    place.flags = in.fixed<std::uint32_t>();
    (void)in.fixed<std::uint64_t>();
    bool const sound =
        magic == layout::place_magic && in.fixed<std::uint64_t>() == checksum(bytes.first(layout::place_bytes - 8));
    if (!sound || place.offset > place.end || place.end > segment_bytes) {
        return {errc::corrupt, "a place of the sidecar is damaged; the segment holds everything, walk it instead"};
    }
    return place;
}

// The sidecar of a segment, from the segment alone. Damaged ranges end a group.
[[nodiscard]] inline error rebuild_sidecar(byte_view segment, byte_buffer& out) noexcept {
    frame_walker walk{segment};
    side_place group{};
    auto const put = [&] {
        std::byte bytes[layout::place_bytes];
        encode_side_place(group, bytes);
        if (group.frames > 0) { (void)out.append({bytes, sizeof bytes}); }
        group = side_place{};
    };
    for (walked what = walk.next(); what != walked::end; what = walk.next()) {
        if (what == walked::corrupt || !group.open()) { put(); }
        if (what == walked::rows) { group.add(walk.frame()); }
    }
    put();
    if (out.failed()) {
        return {errc::out_of_memory, "no memory to rebuild a sidecar; the segment can be read without it"};
    }
    return {};
}

}  // namespace spotter::inline SPOTTER_ABI
