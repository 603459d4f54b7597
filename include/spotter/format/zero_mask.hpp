// SPDX-License-Identifier: Apache-2.0
// Format (L1): stores values without zeros: a mask has a bit for each value, and the non-zero values are contiguous.
#pragma once

#include <spotter/format/fwd.hpp>
#include <spotter/format/layout.hpp>

namespace spotter::inline SPOTTER_ABI {

// A value is zero if all its bits are 0; −0 is not. The bit behind that of the last value is 1, and shows the number of
// values.
namespace zero_mask {

// The size of the mask of `count` values.
[[nodiscard]] constexpr std::size_t bytes_for(std::size_t count) noexcept { return count / 8 + 1; }
inline constexpr std::size_t longest = bytes_for(layout::block_bytes);  // of the mask of a block of one-byte values
// Replaces the mask if all values are stored, with zeros.
inline constexpr std::byte all_stand{0};

// Writes the mask of `count` values of `width` bytes (1, 2, 4 or 8) to `into`, and the non-zero values to `kept`, which
// has room for all. Returns the number of non-zero values.
[[nodiscard]] std::size_t split(std::byte const* values, std::size_t count, std::size_t width, std::byte* into,
                                std::byte* kept) noexcept;
inline constexpr std::size_t slack = 8;  // bytes behind the stored values that `join` may read
// The inverse. `read` must have accepted the mask `from`. `kept` has as many values as the mask says, and `slack` bytes
// of any content.
void join(byte_view from, std::byte const* kept, std::size_t width, std::byte* values) noexcept;

// The content of a mask.
struct reading {
    bool good = false;      // it is valid
    bool all = false;       // all values are stored; their number is unknown
    std::size_t count = 0;  // number of values
    std::size_t kept = 0;   // number of non-zero values
};
[[nodiscard]] reading read(byte_view from) noexcept;  // accepts any bytes

}  // namespace zero_mask

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/format/zero_mask.ipp>
#endif
