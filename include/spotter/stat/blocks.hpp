// SPDX-License-Identifier: Apache-2.0
// Stat (L1): classifies the elements of a block: ordinary numbers, zeros, non-finite values.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/stat/lanes.hpp>
#include <spotter/stat/vectors.hpp>

#include <cstring>

#if defined(__x86_64__) && SPOTTER_GNU_VECTORS
#define SPOTTER_X86_DISPATCH 1
#else
#define SPOTTER_X86_DISPATCH 0
#endif

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Whether a block has neither zeros nor subnormal nor non-finite values. Most blocks have none, and this test takes
// three operations a vector; plain_block takes eight. Without its sign, and minus the smallest normal number, an
// ordinary value is below infinity, and a smaller value wraps around.
template <class Float, std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE bool ordinary_block(Float const* values, std::size_t count) noexcept {
    using Bits = std::make_unsigned_t<bits_of<Float>>;
    using V = vec<Bits, Bytes>;
    constexpr std::size_t step = Bytes / sizeof(Float);
    // There is an instruction for the maximum of unsigned integers.
    constexpr bool has_maximum = Bytes == 64 || (Bytes == 32 && sizeof(Float) == 4);
    constexpr Bits infinity = sizeof(Float) == 4 ? f32_bits::exponent : static_cast<Bits>(f64_bits::exponent);
    constexpr Bits smallest = Bits{1} << (sizeof(Float) == 4 ? 23 : 52);
    constexpr Bits limit = has_maximum ? 2 * (infinity - smallest) : Bits{1} << (sizeof(Float) * 8 - 1);
    V worst{};
    for (std::size_t i = 0; i < count; i += 64 / sizeof(Float)) {
        SPOTTER_UNROLL
        for (std::size_t part = 0; part < 64 / Bytes; ++part) {
            V x;
            std::memcpy(&x, values + i + part * step, Bytes);
            if constexpr (has_maximum) {
                x += x;
                x -= 2 * smallest;
                keep_larger(worst, x);
            } else {  // tested by the top bit of a difference
                x &= limit - 1;
                worst |= (x - smallest) | (infinity - 1 - x);
            }
        }
    }
    Bits most = 0;
    for (std::size_t i = 0; i < step; ++i) { most = worst[i] > most ? worst[i] : most; }
    return most < limit;
}

// Whether a full block (a multiple of 16 elements) has neither subnormal nor non-finite values; tested by integers. If
// so, adds its zeros to `zero_count`; otherwise adds nothing.
template <class Float, std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE bool plain_block(Float const* values, std::size_t count,
                                               std::uint64_t& zero_count) noexcept {
    using Bits = bits_of<Float>;
    using V = vec<Bits, Bytes>;
    constexpr std::size_t step = Bytes / sizeof(Float);
    constexpr int mantissa = sizeof(Float) == 4 ? 23 : 52;
    constexpr Bits infinity =
        static_cast<Bits>(sizeof(Float) == 4 ? f32_bits::exponent : static_cast<Bits>(f64_bits::exponent));
    constexpr Bits smallest = Bits{1} << mantissa;
    constexpr Bits size_mask = static_cast<Bits>(~(Bits{1} << (sizeof(Float) * 8 - 1)));
    V large{};      // negative if a value was not finite
    V subnormal{};  // not zero if a value was subnormal
    V small_count{};
    for (std::size_t i = 0; i < count; i += 64 / sizeof(Float)) {
        SPOTTER_UNROLL
        for (std::size_t part = 0; part < 64 / Bytes; ++part) {
            V x;
            std::memcpy(&x, values + i + part * step, Bytes);
            V const size = x & size_mask;
            V const is_small = size < smallest;
            large |= (infinity - 1) - size;
            subnormal |= size & is_small;
            small_count -= is_small;
        }
    }
    Bits any_large = 0, any_subnormal = 0;
    std::uint64_t zeros = 0;  // small, but not subnormal
    for (std::size_t i = 0; i < step; ++i) {
        any_large |= large[i];
        any_subnormal |= subnormal[i];
        zeros += static_cast<std::uint64_t>(small_count[i]);
    }
    if (any_large < 0 || any_subnormal != 0) { return false; }
    zero_count += zeros;
    return true;
}

// A block with non-finite values, prepared for the sums: each non-finite value is replaced by 0, by a finite value of
// the block, or by the weight 0.
template <class Float>
struct mixed_block {
    alignas(64) Float zeroed[block_size];  // for sums: + 0 does not change a lane that began with 0, nor does + -0
    alignas(64) Float filled[block_size];  // for extremes
    alignas(64) Float weight[block_size];  // 0 or 1
    std::size_t finite = 0;
};

template <class Float>
SPOTTER_STRICT SPOTTER_INLINE bool is_bad(Float const& value) noexcept {
    constexpr auto infinity = static_cast<bits_of<Float>>(
        sizeof(Float) == 4 ? f32_bits::exponent : static_cast<bits_of<Float>>(f64_bits::exponent));
    return (__builtin_bit_cast(bits_of<Float>, value) & infinity) == infinity;
}

// The number of elements (of a multiple of 16) with these bits.
template <class Float, std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE std::uint64_t count_of(Float const* values, std::size_t count,
                                                     bits_of<Float> bits) noexcept {
    using Bits = std::make_unsigned_t<bits_of<Float>>;
    using V = vec<Bits, Bytes>;
    constexpr std::size_t step = Bytes / sizeof(Float);
    V different{};
    for (std::size_t i = 0; i < count; i += step) {
        V x;
        std::memcpy(&x, values + i, Bytes);
        x ^= static_cast<Bits>(bits);
        different += (x | (V{} - x)) >> (sizeof(Float) * 8 - 1);
    }
    std::uint64_t all = count;
    for (std::size_t i = 0; i < step; ++i) { all -= different[i]; }
    return all;
}

// Splits a multiple of 16 elements into `parts` and counts them; `first_index` is that of the first. False, and nothing
// counted, if some are subnormal.
template <class Float, std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE bool part_block(Float const* values, std::size_t count, std::uint64_t first_index,
                                              mixed_block<Float>& parts, summary& counts) noexcept {
    using Bits = bits_of<Float>;
    using V = vec<Bits, Bytes>;
    constexpr std::size_t step = Bytes / sizeof(Float);
    constexpr Bits infinity =
        static_cast<Bits>(sizeof(Float) == 4 ? f32_bits::exponent : static_cast<Bits>(f64_bits::exponent));
    constexpr Bits smallest = Bits{1} << (sizeof(Float) == 4 ? 23 : 52);
    constexpr Bits sign = static_cast<Bits>(Bits{1} << (sizeof(Float) * 8 - 1));
    constexpr Bits top = sizeof(Float) * 8 - 1;
    constexpr Bits one = __builtin_bit_cast(Bits, Float{1});
    std::size_t some = 0;
    while (some < count && is_bad(values[some])) { ++some; }
    Bits const fill = some < count ? __builtin_bit_cast(Bits, values[some]) : Bits{};
    V subnormal{}, bad_count{}, nan_count{}, zero_count{};  // the counts are negative
    for (std::size_t i = 0; i < count; i += step) {
        V x;
        std::memcpy(&x, values + i, Bytes);
        V const size = x & ~sign;
        // Tested by the top bit of a difference: g++ 12 compares 64 bytes one by one.
        V const bad = (infinity - 1 - size) >> top;
        V const nan = (infinity - size) >> top;
        V const tiny = (size - smallest) >> top;
        V const zeroed = x & ~bad;
        V const filled = zeroed | (bad & fill);
        V const weight = ~bad & one;
        subnormal |= size & tiny;
        bad_count += bad;
        nan_count += nan;
        zero_count += tiny;
        std::memcpy(parts.zeroed + i, &zeroed, Bytes);
        std::memcpy(parts.filled + i, &filled, Bytes);
        std::memcpy(parts.weight + i, &weight, Bytes);
    }
    std::uint64_t bad = 0, nan = 0, zeros = 0;
    Bits any_subnormal = 0;
    for (std::size_t i = 0; i < step; ++i) {
        any_subnormal |= subnormal[i];
        bad += static_cast<std::uint64_t>(-bad_count[i]);
        nan += static_cast<std::uint64_t>(-nan_count[i]);
        zeros += static_cast<std::uint64_t>(-zero_count[i]);
    }
    if (any_subnormal != 0) { return false; }
    parts.finite = count - as_size(bad);
    std::uint64_t const low = bad > nan ? count_of<Float, Bytes>(values, count, static_cast<Bits>(sign | infinity)) : 0;
    counts.nan += nan;
    counts.neg_inf += low;
    counts.pos_inf += bad - nan - low;
    counts.zeros += zeros;
    if (bad > 0 && counts.first_bad == no_index) {
        std::size_t first = 0;
        while (!is_bad(values[first])) { ++first; }
        counts.first_bad = first_index + first;
    }
    return true;
}

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
