// SPDX-License-Identifier: Apache-2.0
// Format (L1): splits values into byte planes and back, so that bytes of equal significance are compressed together.
#pragma once

#include <spotter/config.hpp>
#include <spotter/format/bytes.hpp>
#include <spotter/format/payload_form.hpp>

#include <array>
#include <bit>
#include <cstddef>

namespace spotter::inline SPOTTER_ABI {

// into[i] = a[i] ^ b[i] for `count` bytes; `into` may be `a` or `b`.
void exclusive_or(std::byte const* a, std::byte const* b, std::byte* into, std::size_t count) noexcept;

namespace detail {

template <std::size_t Width>
using unsigned_of = std::conditional_t<
    Width == 1, std::uint8_t,
    std::conditional_t<Width == 2, std::uint16_t, std::conditional_t<Width == 4, std::uint32_t, std::uint64_t>>>;

#if SPOTTER_GNU_VECTORS
typedef unsigned char plane_lanes __attribute__((vector_size(16)));

// One round interleaves the first and the second half of the bytes. The index of each byte, as a bit string, is thereby
// rotated left by one. If the index is (value, byte of the value), four rounds turn it, for sixteen values, into (byte,
// value); back it takes log2 of the width in rounds. Each line is one instruction on x86-64 and ARM; a byte shuffle
// (pshufb) would need compiler flags that the user may not set.
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

// Rotates the bits of each value left by one, and back.
typedef std::uint16_t word_lanes_2 __attribute__((vector_size(16)));
typedef std::uint32_t word_lanes_4 __attribute__((vector_size(16)));
typedef std::uint64_t word_lanes_8 __attribute__((vector_size(16)));

template <class Lanes, int Left, int Right, std::size_t Width>
SPOTTER_INLINE void turn_lanes(std::array<plane_lanes, Width>& bytes) noexcept {
    SPOTTER_UNROLL
    for (std::size_t i = 0; i < Width; ++i) {
        Lanes words;
        std::memcpy(&words, &bytes[i], sizeof words);
        words = (words << Left) | (words >> Right);
        std::memcpy(&bytes[i], &words, sizeof words);
    }
}
template <bool Back, std::size_t Width>
SPOTTER_INLINE void turn_bits(std::array<plane_lanes, Width>& bytes) noexcept {
    constexpr int bits = static_cast<int>(8 * Width), left = Back ? bits - 1 : 1;
    if constexpr (Width == 2) {
        turn_lanes<word_lanes_2, left, bits - left>(bytes);
    } else if constexpr (Width == 4) {
        turn_lanes<word_lanes_4, left, bits - left>(bytes);
    } else {
        turn_lanes<word_lanes_8, left, bits - left>(bytes);
    }
}
#endif

template <std::size_t Width, bool Turned>
SPOTTER_NOINLINE inline void split_fixed(std::byte const* values, std::size_t count,
                                         std::byte* const* planes) noexcept {
    std::size_t i = 0;
#if SPOTTER_GNU_VECTORS
    for (; i + values_at_once <= count; i += values_at_once) {
        std::array<plane_lanes, Width> bytes;
        std::memcpy(bytes.data(), values + i * Width, sizeof bytes);
        if constexpr (Turned) { turn_bits<false>(bytes); }
        SPOTTER_UNROLL
        for (int round = 0; round < 4; ++round) { take_turns(bytes); }
        SPOTTER_UNROLL
        for (std::size_t plane = 0; plane < Width; ++plane) { std::memcpy(planes[plane] + i, &bytes[plane], 16); }
    }
#endif
    for (; i < count; ++i) {
        auto value = load<unsigned_of<Width>>(values + i * Width);
        if constexpr (Turned) { value = std::rotl(value, 1); }
        std::byte bytes[Width];
        store(bytes, value);
        for (std::size_t plane = 0; plane < Width; ++plane) { planes[plane][i] = bytes[plane]; }
    }
}
template <std::size_t Width, bool Turned>
SPOTTER_NOINLINE inline void join_fixed(std::byte const* const* planes, std::size_t count, std::byte* values) noexcept {
    std::size_t i = 0;
#if SPOTTER_GNU_VECTORS
    for (; i + values_at_once <= count; i += values_at_once) {
        std::array<plane_lanes, Width> bytes;
        SPOTTER_UNROLL
        for (std::size_t plane = 0; plane < Width; ++plane) { std::memcpy(&bytes[plane], planes[plane] + i, 16); }
        SPOTTER_UNROLL
        for (std::size_t round = 1; round < Width; round *= 2) { take_turns(bytes); }
        if constexpr (Turned) { turn_bits<true>(bytes); }
        std::memcpy(values + i * Width, bytes.data(), sizeof bytes);
    }
#endif
    for (; i < count; ++i) {
        std::byte bytes[Width];
        for (std::size_t plane = 0; plane < Width; ++plane) { bytes[plane] = planes[plane][i]; }
        auto value = load<unsigned_of<Width>>(bytes);
        if constexpr (Turned) { value = std::rotr(value, 1); }
        store(values + i * Width, value);
    }
}

}  // namespace detail

// Splits `count` values of 1, 2, 4 or 8 bytes into as many planes: planes[k] takes byte k of every value. If the form
// is rotated, the bits of each value are first rotated left by one, so that the sign leaves the exponent's byte; values
// of one byte are not rotated.
void split_planes(std::byte const* values, std::size_t count, payload_form form, std::byte* const* planes) noexcept;
// The inverse.
void join_planes(std::byte const* const* planes, std::size_t count, payload_form form, std::byte* values) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY SPOTTER_NOINLINE void exclusive_or(std::byte const* a, std::byte const* b, std::byte* into,
                                                std::size_t count) noexcept {
    std::size_t i = 0;
    for (; i + 32 <= count; i += 32) {
        std::uint64_t left[4], right[4];
        std::memcpy(left, a + i, sizeof left);
        std::memcpy(right, b + i, sizeof right);
        SPOTTER_UNROLL
        for (std::size_t k = 0; k < 4; ++k) { left[k] ^= right[k]; }
        std::memcpy(into + i, left, sizeof left);
    }
    for (; i < count; ++i) { into[i] = a[i] ^ b[i]; }
}

SPOTTER_BODY void split_planes(std::byte const* values, std::size_t count, payload_form form,
                               std::byte* const* planes) noexcept {
    bool const turned = form.rotated();
    switch (form.planes()) {
        case 2:
            return turned ? detail::split_fixed<2, true>(values, count, planes)
                          : detail::split_fixed<2, false>(values, count, planes);
        case 4:
            return turned ? detail::split_fixed<4, true>(values, count, planes)
                          : detail::split_fixed<4, false>(values, count, planes);
        case 8:
            return turned ? detail::split_fixed<8, true>(values, count, planes)
                          : detail::split_fixed<8, false>(values, count, planes);
        default:
            if (count > 0) { std::memcpy(planes[0], values, count); }
    }
}

SPOTTER_BODY void join_planes(std::byte const* const* planes, std::size_t count, payload_form form,
                              std::byte* values) noexcept {
    bool const turned = form.rotated();
    switch (form.planes()) {
        case 2:
            return turned ? detail::join_fixed<2, true>(planes, count, values)
                          : detail::join_fixed<2, false>(planes, count, values);
        case 4:
            return turned ? detail::join_fixed<4, true>(planes, count, values)
                          : detail::join_fixed<4, false>(planes, count, values);
        case 8:
            return turned ? detail::join_fixed<8, true>(planes, count, values)
                          : detail::join_fixed<8, false>(planes, count, values);
        default:
            if (count > 0) { std::memcpy(values, planes[0], count); }
    }
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
