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

// Vectors of the compiler's own, `Bytes` wide: 16 is what every x86-64 and ARM has, 32 is AVX2, 64 is AVX-512. No intrinsics
// header (it would cost every user a quarter of a second), and the same source is every path.
template <class Value, std::size_t Bytes>
struct vector_of {
    typedef Value type __attribute__((vector_size(Bytes)));
};
template <class Value, std::size_t Bytes>
using vec = typename vector_of<Value, Bytes>::type;

template <class Float>
using bits_of = std::conditional_t<sizeof(Float) == 4, std::int32_t, std::int64_t>;

// Asks for memory that is read soon. A processor does not look beyond a page by itself, and a page is one block: without
// this the memory rests while a block is worked on in cache.
SPOTTER_INLINE void fetch_ahead(void const* now) noexcept {
    constexpr std::uintptr_t distance = 4096;
    __builtin_prefetch(reinterpret_cast<void const*>(reinterpret_cast<std::uintptr_t>(now) + distance));
}

// A full block (a multiple of 16 elements) that holds neither subnormal nor non-finite values, told by integers. Returns
// false, having added nothing, where it does hold some.
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
    V large{};      // negative where a value was not finite
    V subnormal{};  // not zero where a value was subnormal
    V small_count{};
    for (std::size_t i = 0; i < count; i += step) {
        fetch_ahead(values + i);
        V x;
        std::memcpy(&x, values + i, Bytes);
        V const size = x & size_mask;
        V const is_small = size < smallest;
        large |= (infinity - 1) - size;
        subnormal |= size & is_small;
        small_count -= is_small;
    }
    Bits any_large = 0, any_subnormal = 0;
    std::uint64_t zeros = 0;  // what is small and not subnormal
    for (std::size_t i = 0; i < step; ++i) {
        any_large |= large[i];
        any_subnormal |= subnormal[i];
        zeros += static_cast<std::uint64_t>(small_count[i]);
    }
    if (any_large < 0 || any_subnormal != 0) { return false; }
    zero_count += zeros;
    return true;
}

// Extremes of x or of |x|, in four independent vectors so that the comparisons overlap. min and max do not round, so
// their order does not matter.
template <bool Abs, class Float, std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE void range_block(Float const* values, std::size_t count, double& lowest,
                                               double& highest) noexcept {
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

// How many vectors the 16 lanes of a sum are.
template <std::size_t Bytes>
inline constexpr std::size_t lane_parts = lane_count * sizeof(double) / Bytes;

// As many values as two vectors of doubles hold, widened. Two at once, because g++ takes a conversion of half a vector of
// floats through memory.
template <std::size_t Bytes>
SPOTTER_INLINE void load_wide(float const* from, vec<double, Bytes> (&into)[2]) noexcept {
    vec<float, Bytes> narrow;
    std::memcpy(&narrow, from, Bytes);
    auto const wide = __builtin_convertvector(narrow, vec<double, 2 * Bytes>);
    std::memcpy(into, &wide, 2 * Bytes);
}
template <std::size_t Bytes>
SPOTTER_INLINE void load_wide(double const* from, vec<double, Bytes> (&into)[2]) noexcept {
    std::memcpy(&into[0], from, Bytes);
    std::memcpy(&into[1], from + Bytes / sizeof(double), Bytes);
}

template <std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE void add_lanes(vec<double, Bytes> const (&block)[lane_parts<Bytes>],
                                             lane_sums& into) noexcept {
    SPOTTER_STRICT_BODY
    vec<double, Bytes> all[lane_parts<Bytes>];
    std::memcpy(all, into.lane, sizeof all);
    SPOTTER_UNROLL
    for (std::size_t part = 0; part < lane_parts<Bytes>; ++part) { all[part] += block[part]; }
    std::memcpy(into.lane, all, sizeof all);
}

// lane_sums::fold, by vectors for as long as there are two.
template <std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE double fold_lanes(vec<double, Bytes> const (&block)[lane_parts<Bytes>]) noexcept {
    SPOTTER_STRICT_BODY
    constexpr std::size_t wide = Bytes / sizeof(double);
    vec<double, Bytes> folded[lane_parts<Bytes>];
    std::memcpy(folded, block, sizeof folded);
    SPOTTER_UNROLL
    for (std::size_t width = lane_parts<Bytes> / 2; width > 0; width /= 2) {
        SPOTTER_UNROLL
        for (std::size_t i = 0; i < width; ++i) { folded[i] += folded[i + width]; }
    }
    double lane[wide];
    std::memcpy(lane, folded, sizeof lane);
    SPOTTER_UNROLL
    for (std::size_t width = wide / 2; width > 0; width /= 2) {
        SPOTTER_UNROLL
        for (std::size_t i = 0; i < width; ++i) { lane[i] += lane[i + width]; }
    }
    return lane[0];
}

// Adds the sums that are asked for; returns the block's sum where that is one of them. A walk for every two vectors of lanes:
// the accumulators of all would not fit the registers of SSE2 and AVX2.
template <bool Sum, bool Abs, bool Squares, class Float, std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE double sum_block(Float const* values, std::size_t count, gathered& into) noexcept {
    SPOTTER_STRICT_BODY
    using D = vec<double, Bytes>;
    constexpr std::size_t wide = Bytes / sizeof(double);
    constexpr std::int64_t size_mask = 0x7FFFFFFFFFFFFFFF;
    D sum[lane_parts<Bytes>]{}, sum_abs[lane_parts<Bytes>]{}, sum_squares[lane_parts<Bytes>]{};
    for (std::size_t part = 0; part < lane_parts<Bytes>; part += 2) {
        D plain[2]{}, sizes[2]{}, squares[2]{};
        for (std::size_t i = part * wide; i < count; i += lane_count) {
            D x[2];
            load_wide<Bytes>(values + i, x);
            SPOTTER_UNROLL
            for (std::size_t k = 0; k < 2; ++k) {
                if constexpr (Sum) { plain[k] += x[k]; }
                if constexpr (Abs) {
                    sizes[k] += reinterpret_cast<D>(reinterpret_cast<vec<std::int64_t, Bytes>>(x[k]) & size_mask);
                }
                if constexpr (Squares) {
                    D square = x[k] * x[k];
                    settle(square);
                    squares[k] += square;
                }
            }
        }
        std::memcpy(&sum[part], plain, sizeof plain);
        std::memcpy(&sum_abs[part], sizes, sizeof sizes);
        std::memcpy(&sum_squares[part], squares, sizeof squares);
    }
    if constexpr (Sum) { add_lanes<Bytes>(sum, into.sum); }
    if constexpr (Abs) { add_lanes<Bytes>(sum_abs, into.sum_abs); }
    if constexpr (Squares) { add_lanes<Bytes>(sum_squares, into.sum_squares); }
    return fold_lanes<Bytes>(sum);
}

// The sum of (x - centre)^2.
template <class Float, std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE double gap_block(Float const* values, std::size_t count, double centre) noexcept {
    SPOTTER_STRICT_BODY
    using D = vec<double, Bytes>;
    constexpr std::size_t wide = Bytes / sizeof(double);
    D squares[lane_parts<Bytes>]{};
    for (std::size_t i = 0; i < count; i += lane_count) {
        SPOTTER_UNROLL
        for (std::size_t part = 0; part < lane_parts<Bytes>; part += 2) {
            D x[2];
            load_wide<Bytes>(values + i + part * wide, x);
            SPOTTER_UNROLL
            for (std::size_t k = 0; k < 2; ++k) {
                D const gap = x[k] - centre;
                D square = gap * gap;
                settle(square);
                squares[part + k] += square;
            }
        }
    }
    return fold_lanes<Bytes>(squares);
}

// All blocks of a tensor that are a multiple of 16 elements long; the rest is left to the caller. Returns how many.
template <class Float, std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE std::size_t gather_blocks(Float const* values, std::size_t count,
                                                        std::uint64_t first_index, terms wanted,
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
            gather_block(element_view<Float>{block, size}, first_index + done, wanted, into);
        } else {
            double low = 0, high = 0, sum = 0;
            if (has(wanted, terms::range)) {
                range_block<false, Float, Bytes>(block, size, low, high);
                into.widen_range(low, high);
            }
            if (has(wanted, terms::abs_range)) {
                range_block<true, Float, Bytes>(block, size, low, high);
                into.widen_abs_range(low, high);
            }
            switch (sums) {
                case 1:
                    sum = sum_block<true, false, false, Float, Bytes>(block, size, into);
                    break;
                case 2:
                    sum = sum_block<false, true, false, Float, Bytes>(block, size, into);
                    break;
                case 3:
                    sum = sum_block<true, true, false, Float, Bytes>(block, size, into);
                    break;
                case 4:
                    sum = sum_block<false, false, true, Float, Bytes>(block, size, into);
                    break;
                case 5:
                    sum = sum_block<true, false, true, Float, Bytes>(block, size, into);
                    break;
                case 6:
                    sum = sum_block<false, true, true, Float, Bytes>(block, size, into);
                    break;
                case 7:
                    sum = sum_block<true, true, true, Float, Bytes>(block, size, into);
                    break;
                default:
                    break;
            }
            if (spread) {
                auto const elements = static_cast<double>(size);
                double const centre = sum / elements;
                into.spread.merge(elements, centre, gap_block<Float, Bytes>(block, size, centre));
            }
        }
        done += size;
    }
    return done;
}

template <class Float>
SPOTTER_STRICT SPOTTER_NOINLINE inline std::size_t gather_baseline(Float const* values, std::size_t count,
                                                                   std::uint64_t first_index, terms wanted,
                                                                   gathered& into) noexcept {
    return gather_blocks<Float, 16>(values, count, first_index, wanted, into);
}
#if SPOTTER_X86_DISPATCH
template <class Float>
SPOTTER_STRICT SPOTTER_NOINLINE __attribute__((target("avx2"))) inline std::size_t
gather_avx2(Float const* values, std::size_t count, std::uint64_t first_index, terms wanted, gathered& into) noexcept {
    return gather_blocks<Float, 32>(values, count, first_index, wanted, into);
}
template <class Float>
SPOTTER_STRICT SPOTTER_NOINLINE __attribute__((target("avx512f,avx512dq"))) inline std::size_t
gather_avx512(Float const* values, std::size_t count, std::uint64_t first_index, terms wanted,
              gathered& into) noexcept {
    return gather_blocks<Float, 64>(values, count, first_index, wanted, into);
}
#endif

template <class Float>
inline std::size_t gather_fast(Float const* values, std::size_t count, std::uint64_t first_index, terms wanted,
                               gathered& into) noexcept {
#if SPOTTER_X86_DISPATCH
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) {
        return gather_avx512(values, count, first_index, wanted, into);
    }
    if (__builtin_cpu_supports("avx2")) { return gather_avx2(values, count, first_index, wanted, into); }
#endif
    return gather_baseline(values, count, first_index, wanted, into);
}

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
