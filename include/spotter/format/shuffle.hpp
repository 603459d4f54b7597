// SPDX-License-Identifier: Apache-2.0
// Format (L1): values to byte planes and back, so that bytes of one significance are compressed together.
#pragma once

#include <spotter/config.hpp>

#include <array>
#include <cstddef>
#include <cstring>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

#if defined(__GNUC__) || defined(__clang__)
typedef unsigned char plane_lanes __attribute__((vector_size(16)));

// One round: the first half of the bytes and the second half take turns, so the number of a byte's place, in bits, turns left
// by one: its top bit becomes the lowest. Where the place of a byte is (value, byte of the value), four rounds bring it, for
// sixteen values, to (byte, value); the other way round it takes as many as the width has bits. Each line is one instruction
// on x86-64 and ARM; a table of byte moves (pshufb) would need flags that a user may not give.
template <std::size_t Width>
SPOTTER_INLINE void take_turns(std::array<plane_lanes, Width>& bytes) noexcept {
    std::array<plane_lanes, Width> const from = bytes;
    SPOTTER_UNROLL
    for (std::size_t i = 0; i < Width / 2; ++i) {
        plane_lanes const a = from[i], b = from[i + Width / 2];
        bytes[2 * i] = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        bytes[2 * i + 1] = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
}
inline constexpr std::size_t values_at_once = 16;
#endif

template <std::size_t Width>
SPOTTER_NOINLINE inline void split_fixed(std::byte const* values, std::size_t count,
                                         std::byte* const* planes) noexcept {
    std::size_t i = 0;
#if defined(__GNUC__) || defined(__clang__)
    for (; i + values_at_once <= count; i += values_at_once) {
        std::array<plane_lanes, Width> bytes;
        std::memcpy(bytes.data(), values + i * Width, sizeof bytes);
        SPOTTER_UNROLL
        for (int round = 0; round < 4; ++round) { take_turns(bytes); }
        SPOTTER_UNROLL
        for (std::size_t plane = 0; plane < Width; ++plane) { std::memcpy(planes[plane] + i, &bytes[plane], 16); }
    }
#endif
    for (; i < count; ++i) {
        for (std::size_t plane = 0; plane < Width; ++plane) { planes[plane][i] = values[i * Width + plane]; }
    }
}
template <std::size_t Width>
SPOTTER_NOINLINE inline void join_fixed(std::byte const* const* planes, std::size_t count, std::byte* values) noexcept {
    std::size_t i = 0;
#if defined(__GNUC__) || defined(__clang__)
    for (; i + values_at_once <= count; i += values_at_once) {
        std::array<plane_lanes, Width> bytes;
        SPOTTER_UNROLL
        for (std::size_t plane = 0; plane < Width; ++plane) { std::memcpy(&bytes[plane], planes[plane] + i, 16); }
        SPOTTER_UNROLL
        for (std::size_t round = 1; round < Width; round *= 2) { take_turns(bytes); }
        std::memcpy(values + i * Width, bytes.data(), sizeof bytes);
    }
#endif
    for (; i < count; ++i) {
        for (std::size_t plane = 0; plane < Width; ++plane) { values[i * Width + plane] = planes[plane][i]; }
    }
}

}  // namespace detail

// `count` values of `width` bytes (1, 2, 4 or 8) to as many planes, each at a place of its own: planes[k] takes byte k of every
// value.
void split_planes(std::byte const* values, std::size_t count, std::size_t width, std::byte* const* planes) noexcept;
void join_planes(std::byte const* const* planes, std::size_t count, std::size_t width, std::byte* values) noexcept;  // the way back

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/format/shuffle.ipp>
#endif
