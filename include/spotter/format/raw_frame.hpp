// SPDX-License-Identifier: Apache-2.0
// Format (L1): writes and reads zstd frames of raw blocks: incompressible bytes cost only a copy and a checksum.
#pragma once

#include <spotter/format/layout.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace raw_frame {

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
std::size_t put_frame_head(std::byte* into, std::size_t content) noexcept;
// Writes 3 bytes; `bytes` of content follow, at most block_limit.
void put_block_head(std::byte* into, std::size_t bytes, bool last) noexcept;
// The offset of the content in a frame of one block; `finish` writes the rest.
[[nodiscard]] constexpr std::size_t content_at(std::size_t content) noexcept {
    return 4 + 1 + field_bytes(content) + 3;
}
// Writes head and checksum around `content` bytes that are in place already.
void finish(std::byte* frame, std::size_t content) noexcept;

// Writes the whole frame, with several blocks if necessary. `into` has room for bytes_for(content).
void put(std::byte* into, byte_view content) noexcept;

// The result of read().
struct reading {
    bool raw = false;     // it is one raw block
    bool good = false;    // and its checksum is correct
    byte_view content{};  // a view of the frame
};
[[nodiscard]] reading read(byte_view frame, std::size_t content) noexcept;  // `frame` is whole: measure_zstd_frame

}  // namespace raw_frame

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/format/raw_frame.ipp>
#endif
