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
#include <spotter/format/bytes.hpp>
#include <spotter/format/shuffle.hpp>

#include <bit>

namespace spotter::inline SPOTTER_ABI::zero_mask {

namespace detail {

// No branch on single values: zeros are random, and a misprediction costs more than the store that it would save. Only
// eight zeros in a row, as in rows of an embedding's gradient, are skipped.
template <std::size_t Width>
SPOTTER_NOINLINE inline std::size_t split_fixed(std::byte const* values, std::size_t count, std::byte* into,
                                                std::byte* kept) noexcept {
    using word = spotter::detail::unsigned_of<Width>;
    std::byte* const begin = kept;
    auto const take = [&](std::byte const* from, unsigned bit) noexcept {
        auto const value = load<word>(from);
        store(kept, value);
        unsigned const stands = value != 0 ? 1 : 0;
        kept += stands * Width;
        return stands << bit;
    };
    for (; count >= 8; count -= 8, values += 8 * Width) {
        std::uint64_t any = 0;
        SPOTTER_UNROLL
        for (std::size_t k = 0; k < Width; ++k) { any |= load<std::uint64_t>(values + 8 * k); }
        if (any == 0) {
            *into++ = std::byte{0};
            continue;
        }
        unsigned bits = 0;
        SPOTTER_UNROLL
        for (unsigned k = 0; k < 8; ++k) { bits |= take(values + k * Width, k); }
        *into++ = static_cast<std::byte>(bits);
    }
    unsigned bits = 1U << count;
    for (unsigned k = 0; k < count; ++k) { bits |= take(values + k * Width, k); }
    *into = static_cast<std::byte>(bits);
    return static_cast<std::size_t>(kept - begin) / Width;
}

template <std::size_t Width>
SPOTTER_NOINLINE inline void join_fixed(byte_view from, std::byte const* kept, std::byte* values) noexcept {
    using word = spotter::detail::unsigned_of<Width>;
    auto const give = [&](unsigned bit) noexcept {
        auto const value = load<word>(kept);
        store(values, static_cast<word>((bit & 1) != 0 ? value : 0));
        kept += (bit & 1) * Width;
        values += Width;
    };
    for (std::byte const each : from.first(from.size() - 1)) {
        auto const bits = static_cast<unsigned>(each);
        if (bits == 0) {
            std::memset(values, 0, 8 * Width);
            values += 8 * Width;
            continue;
        }
        SPOTTER_UNROLL
        for (unsigned k = 0; k < 8; ++k) { give(bits >> k); }
    }
    for (auto bits = static_cast<unsigned>(from.back()); bits > 1; bits >>= 1) { give(bits); }
}

}  // namespace detail

SPOTTER_BODY std::size_t split(std::byte const* values, std::size_t count, std::size_t width, std::byte* into,
                               std::byte* kept) noexcept {
    switch (width) {
        case 1:
            return detail::split_fixed<1>(values, count, into, kept);
        case 2:
            return detail::split_fixed<2>(values, count, into, kept);
        case 4:
            return detail::split_fixed<4>(values, count, into, kept);
        default:
            return detail::split_fixed<8>(values, count, into, kept);
    }
}

SPOTTER_BODY void join(byte_view from, std::byte const* kept, std::size_t width, std::byte* values) noexcept {
    switch (width) {
        case 1:
            return detail::join_fixed<1>(from, kept, values);
        case 2:
            return detail::join_fixed<2>(from, kept, values);
        case 4:
            return detail::join_fixed<4>(from, kept, values);
        default:
            return detail::join_fixed<8>(from, kept, values);
    }
}

SPOTTER_BODY reading read(byte_view from) noexcept {
    if (from.empty()) { return {}; }
    if (from.back() == std::byte{0}) { return {from.size() == 1, true, 0, 0}; }
    reading found{true, false, 8 * (from.size() - 1), 0};
    auto const last = static_cast<unsigned>(from.back());
    found.count += static_cast<std::size_t>(std::bit_width(last)) - 1;
    std::size_t ones = static_cast<std::size_t>(std::popcount(last)) - 1;
    std::size_t i = 0;
    for (; i + 8 < from.size(); i += 8) {
        ones += static_cast<std::size_t>(std::popcount(load<std::uint64_t>(from.data() + i)));
    }
    for (; i + 1 < from.size(); ++i) {
        ones += static_cast<std::size_t>(std::popcount(static_cast<unsigned>(from[i])));
    }
    found.kept = ones;
    return found;
}

}  // namespace spotter::inline SPOTTER_ABI::zero_mask
#endif
