// SPDX-License-Identifier: Apache-2.0
// Format (L1): values without the zeros among them: a bit a value says which, and those that are not zero stand side by
// side.
#pragma once

#include <spotter/format/fwd.hpp>
#include <spotter/format/layout.hpp>

namespace spotter::inline SPOTTER_ABI {

// A zero is a value all bits of which are 0: −0 is none. Behind the bit of the last value stands a 1, which says how
// many there are.
namespace zero_mask {

// Of the mask of that many values.
[[nodiscard]] constexpr std::size_t bytes_for(std::size_t count) noexcept { return count / 8 + 1; }
inline constexpr std::size_t longest = bytes_for(layout::block_bytes);  // bytes of the mask of a block of bytes
// In place of a mask: all values stand, zeros among them.
inline constexpr std::byte all_stand{0};

// The mask of `count` values of `width` bytes (1, 2, 4 or 8), and those that are not zero, of which the number is
// returned. `kept` has room for all.
[[nodiscard]] std::size_t split(std::byte const* values, std::size_t count, std::size_t width, std::byte* into,
                                std::byte* kept) noexcept;
inline constexpr std::size_t slack = 8;  // bytes behind the values that stand, for `join` to read and to forget
// Back. `from` is a mask that `read` found good, `kept` has as many values as it says and `slack` bytes more, of any
// content.
void join(byte_view from, std::byte const* kept, std::size_t width, std::byte* values) noexcept;

// What a mask says.
struct reading {
    bool good = false;      // it is one
    bool all = false;       // all values stand; nothing more is known
    std::size_t count = 0;  // of values
    std::size_t kept = 0;   // that are not zero
};
[[nodiscard]] reading read(byte_view from) noexcept;  // of any bytes

}  // namespace zero_mask

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/format/zero_mask.ipp>
#endif
