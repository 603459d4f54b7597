// SPDX-License-Identifier: Apache-2.0
// Stat (L1): blocks of ordinary floats and doubles, many lanes at a time; bit-equal to gather_block by construction.
#pragma once

#include <spotter/stat/lanes.hpp>

#include <cstring>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define SPOTTER_X86_DISPATCH 1
#else
#define SPOTTER_X86_DISPATCH 0
#endif

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Vectors of the compiler's own, `Bytes` wide: 16 is what every x86-64 and ARM has, 32 is AVX2. No intrinsics header (it
// would cost every user a quarter of a second), and the same source is every path.
template <class Value, std::size_t Bytes>
struct vector_of {
    typedef Value type __attribute__((vector_size(Bytes)));
};
template <class Value, std::size_t Bytes>
using vec = typename vector_of<Value, Bytes>::type;

template <class Float>
using bits_of = std::conditional_t<sizeof(Float) == 4, std::int32_t, std::int64_t>;

// A full block (a multiple of 16 elements) that holds neither subnormal nor non-finite values, told by integer
// comparisons. Returns false, having added nothing, where it does hold some.
template <class Float, std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE bool plain_block(Float const* values, std::size_t count, std::uint64_t& zero_count) noexcept {
    using Bits = bits_of<Float>;
    using V = vec<Bits, Bytes>;
    constexpr std::size_t step = Bytes / sizeof(Float);
    constexpr int mantissa = sizeof(Float) == 4 ? 23 : 52;
    constexpr Bits infinity = static_cast<Bits>(sizeof(Float) == 4 ? f32_bits::exponent : static_cast<Bits>(f64_bits::exponent));
    constexpr Bits smallest = Bits{1} << mantissa;
    constexpr Bits size_mask = static_cast<Bits>(~(Bits{1} << (sizeof(Float) * 8 - 1)));
    V odd{};
    V found_zeros{};
    for (std::size_t i = 0; i < count; i += step) {
        V x;
        std::memcpy(&x, values + i, Bytes);
        V const size = x & size_mask;
        V const is_zero = size == 0;
        odd |= (size >= infinity) | ((size < smallest) & ~is_zero);
        found_zeros -= is_zero;
    }
    Bits any_odd = 0;
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < step; ++i) {
        any_odd |= odd[i];
        found += static_cast<std::uint64_t>(found_zeros[i]);
    }
    if (any_odd != 0) { return false; }
    zero_count += found;
    return true;
}

// Extremes of x or of |x|, in four independent vectors so that the comparisons overlap. min and max do not round, so
// their order does not matter.
template <bool Abs, class Float, std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE void range_block(Float const* values, std::size_t count, double& lowest, double& highest) noexcept {
    SPOTTER_STRICT_BODY
    using Bits = bits_of<Float>;
    using V = vec<Float, Bytes>;
    constexpr std::size_t step = Bytes / sizeof(Float);
    constexpr std::size_t parts = lane_count / step < 4 ? lane_count / step : 4;
    constexpr Bits size_mask = static_cast<Bits>(~(Bits{1} << (sizeof(Float) * 8 - 1)));
    V low[parts], high[parts];
    SPOTTER_UNROLL
    for (std::size_t part = 0; part < parts; ++part) { low[part] = V{} + values[0], high[part] = V{} + values[0]; }
    if constexpr (Abs) {
        for (std::size_t part = 0; part < parts; ++part) {
            low[part] = reinterpret_cast<V>(reinterpret_cast<vec<Bits, Bytes>>(low[part]) & size_mask);
            high[part] = low[part];
        }
    }
    for (std::size_t i = 0; i < count; i += step * parts) {
        SPOTTER_UNROLL
        for (std::size_t part = 0; part < parts; ++part) {
            V x;
            std::memcpy(&x, values + i + part * step, Bytes);
            if constexpr (Abs) { x = reinterpret_cast<V>(reinterpret_cast<vec<Bits, Bytes>>(x) & size_mask); }
            low[part] = x < low[part] ? x : low[part];
            high[part] = x > high[part] ? x : high[part];
        }
    }
    lowest = low[0][0];
    highest = high[0][0];
    for (std::size_t part = 0; part < parts; ++part) {
        for (std::size_t i = 0; i < step; ++i) {
            lowest = low[part][i] < lowest ? low[part][i] : lowest;
            highest = high[part][i] > highest ? high[part][i] : highest;
        }
    }
}

// The sums that are asked for, in one walk.
template <bool Sum, bool Abs, bool Squares, class Float, std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE void sum_block(Float const* values, std::size_t count, block_sums& into) noexcept {
    SPOTTER_STRICT_BODY
    using D = vec<double, Bytes>;
    constexpr std::size_t wide = Bytes / sizeof(double);
    constexpr std::size_t parts = lane_count / wide;
    constexpr std::int64_t size_mask = 0x7FFFFFFFFFFFFFFF;
    D plain[parts]{}, sizes[parts]{}, squares[parts]{};
    for (std::size_t i = 0; i < count; i += lane_count) {
        SPOTTER_UNROLL
        for (std::size_t part = 0; part < parts; ++part) {
            vec<Float, wide * sizeof(Float)> x;
            std::memcpy(&x, values + i + part * wide, sizeof x);
            D const wider = __builtin_convertvector(x, D);
            if constexpr (Sum) { plain[part] += wider; }
            if constexpr (Abs) { sizes[part] += reinterpret_cast<D>(reinterpret_cast<vec<std::int64_t, Bytes>>(wider) & size_mask); }
            if constexpr (Squares) { squares[part] += wider * wider; }
        }
    }
    if constexpr (Sum) { std::memcpy(into.sum.lane, plain, sizeof plain); }
    if constexpr (Abs) { std::memcpy(into.sum_abs.lane, sizes, sizeof sizes); }
    if constexpr (Squares) { std::memcpy(into.sum_squares.lane, squares, sizeof squares); }
}

template <class Float, std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE void gap_block(Float const* values, std::size_t count, double centre, block_sums& into) noexcept {
    SPOTTER_STRICT_BODY
    using D = vec<double, Bytes>;
    constexpr std::size_t wide = Bytes / sizeof(double);
    constexpr std::size_t parts = lane_count / wide;
    D squares[parts]{};
    for (std::size_t i = 0; i < count; i += lane_count) {
        SPOTTER_UNROLL
        for (std::size_t part = 0; part < parts; ++part) {
            vec<Float, wide * sizeof(Float)> x;
            std::memcpy(&x, values + i + part * wide, sizeof x);
            D const gap = __builtin_convertvector(x, D) - centre;
            squares[part] += gap * gap;
        }
    }
    std::memcpy(into.squared_gaps.lane, squares, sizeof squares);
}

// All blocks of a tensor that are a multiple of 16 elements long; the rest is left to the caller. Returns how many.
template <class Float, std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE std::size_t gather_blocks(Float const* values, std::size_t count, std::uint64_t first_index, terms wanted,
                                                        gathered& into) noexcept {
    SPOTTER_STRICT_BODY
    bool const spread = has(wanted, terms::variance);
    int const sums = (spread || has(wanted, terms::sum) ? 1 : 0) | (has(wanted, terms::sum_abs) ? 2 : 0) |
                     (has(wanted, terms::sum_squares) ? 4 : 0);
    std::size_t done = 0;
    while (count - done >= lane_count) {
        std::size_t const left = count - done;
        std::size_t const size = left >= block_size ? block_size : left;
        std::size_t const whole = size / lane_count * lane_count;
        if (whole != size) { break; }  // the last, ragged block goes by the definition as a whole
        Float const* const block = values + done;
        if (has(wanted, terms::product) || !plain_block<Float, Bytes>(block, size, into.result.zeros)) {
            gather_block(std::span<Float const>{block, size}, first_index + done, wanted, into);
        } else {
            block_sums block_total;
            block_total.finite = size;
            double low = 0, high = 0;
            if (has(wanted, terms::range)) {
                range_block<false, Float, Bytes>(block, size, low, high);
                into.widen_range(low, high);
            }
            if (has(wanted, terms::abs_range)) {
                range_block<true, Float, Bytes>(block, size, low, high);
                into.widen_abs_range(low, high);
            }
            switch (sums) {
                case 1: sum_block<true, false, false, Float, Bytes>(block, size, block_total); break;
                case 2: sum_block<false, true, false, Float, Bytes>(block, size, block_total); break;
                case 3: sum_block<true, true, false, Float, Bytes>(block, size, block_total); break;
                case 4: sum_block<false, false, true, Float, Bytes>(block, size, block_total); break;
                case 5: sum_block<true, false, true, Float, Bytes>(block, size, block_total); break;
                case 6: sum_block<false, true, true, Float, Bytes>(block, size, block_total); break;
                case 7: sum_block<true, true, true, Float, Bytes>(block, size, block_total); break;
                default: break;
            }
            if (spread) {
                double const centre = block_total.sum.fold() / static_cast<double>(size);
                gap_block<Float, Bytes>(block, size, centre, block_total);
            }
            into.close_block(block_total, wanted);
        }
        done += size;
    }
    return done;
}

template <class Float>
SPOTTER_STRICT SPOTTER_NOINLINE inline std::size_t gather_baseline(Float const* values, std::size_t count, std::uint64_t first_index,
                                                                   terms wanted, gathered& into) noexcept {
    return gather_blocks<Float, 16>(values, count, first_index, wanted, into);
}
#if SPOTTER_X86_DISPATCH
template <class Float>
SPOTTER_STRICT SPOTTER_NOINLINE __attribute__((target("avx2"))) inline std::size_t gather_avx2(Float const* values, std::size_t count,
                                                                                             std::uint64_t first_index, terms wanted,
                                                                                             gathered& into) noexcept {
    return gather_blocks<Float, 32>(values, count, first_index, wanted, into);
}
#endif

template <class Float>
inline std::size_t gather_fast(Float const* values, std::size_t count, std::uint64_t first_index, terms wanted, gathered& into) noexcept {
#if SPOTTER_X86_DISPATCH
    if (__builtin_cpu_supports("avx2")) { return gather_avx2(values, count, first_index, wanted, into); }
#endif
    return gather_baseline(values, count, first_index, wanted, into);
}

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
