// SPDX-License-Identifier: Apache-2.0
// Format (L1): zstd frames of raw blocks, made and read by hand: bytes that do not compress cost a copy and a checksum.
#pragma once

#include <spotter/format/layout.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace raw_frame {

inline constexpr std::size_t block_limit = 128U << 10;  // bytes of a block of a zstd frame

// The bytes of a frame's field of the size of its content: 1, 2 or 4 (RFC 8878, section 3.1.1.1.4).
[[nodiscard]] constexpr std::size_t field_bytes(std::size_t content) noexcept {  // that say how large the content is
    return content < 256 ? 1 : content < 65536 + 256 ? 2 : 4;
}
// The frame around that many bytes. At most layout::block_bytes of them.
[[nodiscard]] constexpr std::size_t bytes_for(std::size_t content) noexcept {
    std::size_t const blocks = content == 0 ? 1 : (content + block_limit - 1) / block_limit;
    return 4 + 1 + field_bytes(content) + 3 * blocks + content + 4;
}

// What stands before the content of a frame of one block, and how long that is. `into` has room for head_limit bytes.
inline constexpr std::size_t head_limit = 4 + 1 + 4 + 3;
std::size_t put_frame_head(std::byte* into, std::size_t content) noexcept;  // both are the caller's to put in order
// 3 bytes; `bytes` of content follow, at most block_limit.
void put_block_head(std::byte* into, std::size_t bytes, bool last) noexcept;
// Where the content of a frame of one block stands, as seen from the frame's begin; `finish` adds what stands around
// it.
[[nodiscard]] constexpr std::size_t content_at(std::size_t content) noexcept {
    return 4 + 1 + field_bytes(content) + 3;
}
// Head and checksum around `content` bytes that are there already.
void finish(std::byte* frame, std::size_t content) noexcept;

// The whole frame, of several blocks where the content needs them. `into` has room for bytes_for(content).
void put(std::byte* into, byte_view content) noexcept;

// What one looks like from outside. `frame` is a whole zstd frame with that content (measure_zstd_frame).
struct reading {
    bool raw = false;     // one raw block
    bool good = false;    // and its checksum is right
    byte_view content{};  // in the frame
};
[[nodiscard]] reading read(byte_view frame, std::size_t content) noexcept;  // whether it was made so, and what is in it

}  // namespace raw_frame

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/format/raw_frame.ipp>
#endif
