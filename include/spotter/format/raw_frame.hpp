// SPDX-License-Identifier: Apache-2.0
// Format (L1): writes and reads zstd frames of raw blocks: incompressible bytes cost only a copy and a checksum.
#pragma once

#include <spotter/format/checksum.hpp>
#include <spotter/format/layout.hpp>

namespace spotter::inline SPOTTER_ABI::raw_frame {

inline constexpr std::size_t block_limit = 128U << 10;  // most bytes in a block of a zstd frame

// The size of a frame's content-size field: 1, 2 or 4 bytes (RFC 8878, section 3.1.1.1.4).
[[nodiscard]] constexpr std::size_t field_bytes(std::size_t content) noexcept {
    return content < 256 ? 1 : content < 65536 + 256 ? 2 : 4;
}
// The size of a frame with that much content, at most layout::block_bytes.
[[nodiscard]] constexpr std::size_t bytes_for(std::size_t content) noexcept {
    std::size_t const blocks = content == 0 ? 1 : (content + block_limit - 1) / block_limit;
    return 4 + 1 + field_bytes(content) + 3 * blocks + content + 4;
}

// The most bytes before the content of a frame of one block.
inline constexpr std::size_t head_limit = 4 + 1 + 4 + 3;
// Writes the head of a frame, without its blocks, to `into` with room for head_limit bytes; returns its length.
inline std::size_t put_frame_head(std::byte* into, std::size_t content) noexcept {
    constexpr std::uint8_t one_segment = 0x20, has_checksum = 0x04;
    std::size_t const field = field_bytes(content);
    std::size_t const code = field == 4 ? 2 : field - 1;
    quick_writer out{into};
    out.fixed(layout::zstd_magic);
    out.fixed(static_cast<std::uint8_t>(code << 6 | one_segment | has_checksum));
    auto const stored = static_cast<std::uint32_t>(field == 2 ? content - 256 : content);
    out.raw({reinterpret_cast<std::byte const*>(&stored), field});
    return out.size();
}

// Writes 3 bytes; `bytes` of content follow, at most block_limit.
inline void put_block_head(std::byte* into, std::size_t bytes, bool last) noexcept {
    auto const head = static_cast<std::uint32_t>(bytes << 3 | (last ? 1U : 0U));
    std::memcpy(into, &head, 3);
}

// The offset of the content in a frame of one block; `finish` writes the rest.
[[nodiscard]] constexpr std::size_t content_at(std::size_t content) noexcept {
    return 4 + 1 + field_bytes(content) + 3;
}
// Writes head and checksum around `content` bytes that are in place already.
inline void finish(std::byte* frame, std::size_t content) noexcept {
    std::size_t const at = put_frame_head(frame, content);
    put_block_head(frame + at, content, true);
    auto const hash = xxh64({frame + at + 3, content});
    store(frame + at + 3 + content, static_cast<std::uint32_t>(hash));
}

// Writes the whole frame, with several blocks if necessary. `into` has room for bytes_for(content).
inline void put(std::byte* into, byte_view content) noexcept {
    std::byte* at = into + put_frame_head(into, content.size());
    for (byte_view left = content;;) {
        byte_view const part = left.first(left.size() < block_limit ? left.size() : block_limit);
        left = left.subspan(part.size());
        put_block_head(at, part.size(), left.empty());
        at += 3;
        if (!part.empty()) { std::memcpy(at, part.data(), part.size()); }
        at += part.size();
        if (left.empty()) { break; }
    }
    store(at, static_cast<std::uint32_t>(xxh64(content)));
}

// The result of read().
struct reading {
    bool raw = false;     // it is one raw block
    bool good = false;    // and its checksum is correct
    byte_view content{};  // a view of the frame
};
// `frame` is whole: measure_zstd_frame
[[nodiscard]] inline reading read(byte_view frame, std::size_t content) noexcept {
    auto const bits = static_cast<std::uint8_t>(frame[4]);
    if ((bits & 0x20) == 0) { return {}; }
    std::size_t const head = 4 + 1 + (std::size_t{1} << (bits >> 6));
    if (frame.size() != head + 3 + content + 4) { return {}; }
    std::uint32_t block = 0;
    std::memcpy(&block, frame.data() + head, 3);
    if (block != (static_cast<std::uint32_t>(content) << 3 | 1U)) { return {}; }
    byte_view const found = frame.subspan(head + 3, content);
    auto const wanted = load<std::uint32_t>(frame.data() + head + 3 + content);
    return {true, static_cast<std::uint32_t>(xxh64(found)) == wanted, found};
}

}  // namespace spotter::inline SPOTTER_ABI::raw_frame
