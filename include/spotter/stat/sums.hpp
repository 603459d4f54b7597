// SPDX-License-Identifier: Apache-2.0
// Stat (L1): the sums of one walk over a block, many lanes at a time; bit-equal to gather_block by construction.
#pragma once

#include <spotter/stat/blocks.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Prefetches the next block into the first-level cache while this one is summed. Classifying a block takes three
// operations a vector, and would wait for the second-level cache (a Xeon with AVX-512, tensors in L2: 870 cycles a
// block, 925 without prefetch). A processor does not prefetch across a page, and a page is one block of floats.
// Prefetching during the classification is slower (10 to 12 GB/s of 13.6 on Zen 4); distances of 2 or 16 KiB are no
// faster.
SPOTTER_INLINE void fetch_ahead(void const* now) noexcept {
    constexpr std::uintptr_t distance = 4096;
    SPOTTER_FETCH(reinterpret_cast<void const*>(reinterpret_cast<std::uintptr_t>(now) + distance));
}

// Extremes of x or |x| over all plain blocks, in independent vectors so that comparisons overlap; merged at the end.
// min and max do not round, so their order does not matter.
template <bool Abs, class Float, std::size_t Bytes>
struct range_vectors {
    using V = vec<Float, Bytes>;
    static constexpr std::size_t step = Bytes / sizeof(Float);
    // A comparison takes four cycles; a processor starts one or two in each cycle.
    static constexpr std::size_t parts = 4;
    V low[parts]{}, high[parts]{};
    bool any = false;

    SPOTTER_STRICT SPOTTER_INLINE static void load(Float const* from, V& x) noexcept {
        std::memcpy(&x, from, Bytes);
        if constexpr (Abs) { clear_sign(x); }
    }
    SPOTTER_STRICT SPOTTER_INLINE static void take(V const& x, V& least, V& most) noexcept {
        SPOTTER_STRICT_BODY
        keep_smaller(least, x);
        keep_larger(most, x);
    }
    // Before the first values; initializes with any of them.
    SPOTTER_STRICT SPOTTER_INLINE void begin(Float const* values) noexcept {
        if (any) { return; }
        V x;
        load(values, x);
        SPOTTER_UNROLL
        for (std::size_t part = 0; part < parts; ++part) { low[part] = high[part] = x; }
        any = true;
    }
    SPOTTER_STRICT SPOTTER_INLINE void add(Float const* values, std::size_t count) noexcept {
        SPOTTER_STRICT_BODY
        begin(values);
        V least[parts], most[parts];
        SPOTTER_UNROLL
        for (std::size_t part = 0; part < parts; ++part) { least[part] = low[part], most[part] = high[part]; }
        std::size_t i = 0;
        for (; i + step * parts <= count; i += step * parts) {
            SPOTTER_UNROLL
            for (std::size_t part = 0; part < parts; ++part) {
                V x;
                load(values + i + part * step, x);
                take(x, least[part], most[part]);
            }
        }
        for (; i < count; i += step) {  // the rest of a short last block
            V x;
            load(values + i, x);
            take(x, least[0], most[0]);
        }
        SPOTTER_UNROLL
        for (std::size_t part = 0; part < parts; ++part) { low[part] = least[part], high[part] = most[part]; }
    }
    SPOTTER_STRICT SPOTTER_INLINE void fold(double& lowest, double& highest) const noexcept {
        SPOTTER_STRICT_BODY
        V least = low[0], most = high[0];
        SPOTTER_UNROLL
        for (std::size_t part = 1; part < parts; ++part) {
            keep_smaller(least, low[part]), keep_larger(most, high[part]);
        }
        lowest = least[0];
        highest = most[0];
        for (std::size_t i = 1; i < step; ++i) {
            double const down = static_cast<double>(least[i]), up = static_cast<double>(most[i]);
            lowest = down < lowest ? down : lowest;
            highest = up > highest ? up : highest;
        }
    }
};

// The number of vectors for the 16 lanes of a sum.
template <std::size_t Bytes>
inline constexpr std::size_t lane_parts = lane_count * sizeof(double) / Bytes;

// Loads values for two vectors of doubles, and widens them. From AVX2 on directly from memory, which is a quarter
// faster than from a register. g++ needs an asm statement for that: it converts half a vector of floats through memory.
template <std::size_t Bytes>
SPOTTER_INLINE void load_wide(float const* from, vec<double, Bytes> (&into)[2]) noexcept {
#if SPOTTER_X86_DISPATCH
    if constexpr (Bytes >= 32) {
        constexpr std::size_t wide = Bytes / sizeof(double);
        SPOTTER_UNROLL
        for (std::size_t k = 0; k < 2; ++k) {
#if defined(__clang__)
            asm("" : "+r"(from));  // otherwise it merges the loads and splits the conversion
            vec<float, Bytes / 2> narrow;
            std::memcpy(&narrow, from + k * wide, Bytes / 2);
            convert_elements(narrow, into[k]);
#else
            using some = float const[wide];
            vec<double, Bytes> widened;
            asm("vcvtps2pd %1, %0" : "=v"(widened) : "m"(*reinterpret_cast<some*>(from + k * wide)));
            into[k] = widened;
#endif
        }
        return;
    }
#endif
    vec<float, Bytes> narrow;
    std::memcpy(&narrow, from, Bytes);
    vec<double, 2 * Bytes> wide;
    convert_elements(narrow, wide);
    std::memcpy(into, &wide, 2 * Bytes);
}
template <std::size_t Bytes>
SPOTTER_INLINE void load_wide(double const* from, vec<double, Bytes> (&into)[2]) noexcept {
    std::memcpy(&into[0], from, Bytes);
    std::memcpy(&into[1], from + Bytes / sizeof(double), Bytes);
}

// sum + a * b, in one instruction if the path has FMA, otherwise in two. Only for products that do not round (by 1, or
// of two floats), so that both give the same bits. Processors add in other units than they multiply in, and conversions
// from float use the adding units. So an addition as a product with 1 runs beside the conversions.
template <std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE void add_exact_product(vec<double, Bytes>& sum, vec<double, Bytes> const& a,
                                                     vec<double, Bytes> const& b) noexcept {
    SPOTTER_STRICT_BODY
#if SPOTTER_X86_DISPATCH && !defined(__clang__)
    if constexpr (Bytes >= 32) {
        auto so_far = sum;  // a copy; otherwise g++ keeps arrays of sums in memory
        asm("vfmadd231pd %2, %1, %0" : "+v"(so_far) : "v"(a), "v"(b));
        sum = so_far;
        return;
    }
#elif SPOTTER_X86_DISPATCH && __has_builtin(__builtin_elementwise_fma)
    if constexpr (Bytes >= 32) {
        sum = __builtin_elementwise_fma(a, b, sum);
        return;
    }
#endif
    auto product = a * b;
    force_rounding(product);
    sum += product;
}
// Sets 1 so that no compiler sees it, and multiplications with it stay.
template <std::size_t Bytes>
SPOTTER_INLINE void set_to_one(vec<double, Bytes>& all) noexcept {
    double one = 1;
#if SPOTTER_X86_DISPATCH
    asm("" : "+x"(one));
#endif
    all = vec<double, Bytes>{} + one;
}

// sum + x, as a product with 1 if the path has FMA.
template <std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE void add_beside(vec<double, Bytes>& sum, vec<double, Bytes> const& x,
                                              [[maybe_unused]] vec<double, Bytes> const& one) noexcept {
    SPOTTER_STRICT_BODY
    if constexpr (Bytes >= 32) {
        add_exact_product<Bytes>(sum, x, one);
    } else {
        sum += x;
    }
}
// sum + x * x; the square of a double rounds, that of a float does not.
template <class Float, std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE void add_square(vec<double, Bytes>& sum, vec<double, Bytes> const& x) noexcept {
    SPOTTER_STRICT_BODY
    if constexpr (sizeof(Float) == 4) {
        add_exact_product<Bytes>(sum, x, x);
    } else {
        auto square = x * x;
        force_rounding(square);
        sum += square;
    }
}

// Adds two vectors of a block's lanes to those of a tensor, from lane `first` on.
template <std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE void add_lanes(vec<double, Bytes> const (&block)[2], std::size_t first,
                                             lane_sums& into) noexcept {
    SPOTTER_STRICT_BODY
    SPOTTER_UNROLL
    for (vec<double, Bytes> const& each : block) {  // one at a time: g++ would copy two in small pieces through memory
        vec<double, Bytes> all;
        std::memcpy(&all, into.lane + first, Bytes);
        all += each;
        std::memcpy(into.lane + first, &all, Bytes);
        first += Bytes / sizeof(double);
    }
}

// lane_sums::fold, by vectors while there are two.
template <std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE double fold_lanes(vec<double, Bytes> const (&block)[lane_parts<Bytes>]) noexcept {
    SPOTTER_STRICT_BODY
    constexpr std::size_t wide = Bytes / sizeof(double);
    vec<double, Bytes> folded[lane_parts<Bytes>];
    SPOTTER_UNROLL
    for (std::size_t i = 0; i < lane_parts<Bytes>; ++i) { folded[i] = block[i]; }
    SPOTTER_UNROLL
    for (std::size_t width = lane_parts<Bytes> / 2; width > 0; width /= 2) {
        SPOTTER_UNROLL
        for (std::size_t i = 0; i < width; ++i) { folded[i] += folded[i + width]; }
    }
    double lane[wide];
    std::memcpy(lane, &folded[0], sizeof lane);
    SPOTTER_UNROLL
    for (std::size_t width = wide / 2; width > 0; width /= 2) {
        SPOTTER_UNROLL
        for (std::size_t i = 0; i < width; ++i) { lane[i] += lane[i + width]; }
    }
    return lane[0];
}

// Adds the selected sums; returns the block's sum if it is selected. One walk for every two vectors of lanes: the
// accumulators of all lanes would not fit the registers of SSE2 and AVX2.
template <bool Sum, bool Abs, bool Squares, class Float, std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE double sum_block(Float const* values, std::size_t count, gathered& into) noexcept {
    SPOTTER_STRICT_BODY
    using D = vec<double, Bytes>;
    constexpr std::size_t wide = Bytes / sizeof(double);
    D sum[lane_parts<Bytes>];
    D one;
    set_to_one<Bytes>(one);
    for (std::size_t part = 0; part < lane_parts<Bytes>; part += 2) {
        D plain[2]{}, sizes[2]{}, squares[2]{};
        for (std::size_t i = part * wide; i < count; i += lane_count) {
            if (part == 0) { fetch_ahead(values + i); }
            D x[2];
            load_wide<Bytes>(values + i, x);
            SPOTTER_UNROLL
            for (std::size_t k = 0; k < 2; ++k) {
                if constexpr (Sum) { plain[k] += x[k]; }
                if constexpr (Abs) {
                    D size = x[k];
                    clear_sign(size);
                    add_beside<Bytes>(sizes[k], size, one);
                }
                if constexpr (Squares) { add_square<Float, Bytes>(squares[k], x[k]); }
            }
        }
        if constexpr (Sum) {
            add_lanes<Bytes>(plain, part * wide, into.sum);
            sum[part] = plain[0], sum[part + 1] = plain[1];
        }
        if constexpr (Abs) { add_lanes<Bytes>(sizes, part * wide, into.sum_abs); }
        if constexpr (Squares) { add_lanes<Bytes>(squares, part * wide, into.sum_squares); }
    }
    if constexpr (Sum) {
        return fold_lanes<Bytes>(sum);
    } else {
        return 0;
    }
}

// The vector width of a walk for gaps alone: on Zen 4 77 ns a block with 32 bytes, 110 with 64.
template <std::size_t Bytes>
inline constexpr std::size_t gap_bytes = Bytes < 32 ? Bytes : 32;

// The sum of (x - centre)^2; `Weighed`: only elements with weight 1, not 0.
template <bool Weighed, class Float, std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE double gap_block(Float const* values, [[maybe_unused]] Float const* weights,
                                               std::size_t count, double centre) noexcept {
    SPOTTER_STRICT_BODY
    using D = vec<double, Bytes>;
    constexpr std::size_t wide = Bytes / sizeof(double);
    D squares[lane_parts<Bytes>]{};
    [[maybe_unused]] D one;
    set_to_one<Bytes>(one);
    D const minus_centre = D{} - centre;
    for (std::size_t i = 0; i < count; i += lane_count) {
        SPOTTER_UNROLL
        for (std::size_t part = 0; part < lane_parts<Bytes>; part += 2) {
            D x[2];
            [[maybe_unused]] D weight[2];
            load_wide<Bytes>(values + i + part * wide, x);
            if constexpr (Weighed) { load_wide<Bytes>(weights + i + part * wide, weight); }
            SPOTTER_UNROLL
            for (std::size_t k = 0; k < 2; ++k) {
                D gap = Weighed ? x[k] : minus_centre;
                if constexpr (Weighed) {  // 0 with a weight of 0, like the sums
                    add_exact_product<Bytes>(gap, minus_centre, weight[k]);
                } else {
                    add_beside<Bytes>(gap, x[k], one);
                }
                D square = gap * gap;
                force_rounding(square);
                squares[part + k] += square;
            }
        }
    }
    return fold_lanes<Bytes>(squares);
}

// sum_block for a set of sums: 1 sum, 2 magnitudes, 4 squares. For two or more it computes all three: the third costs
// little, and each further combination would cost compile time.
template <class Float, std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE double add_sums(int sums, Float const* values, std::size_t count,
                                              gathered& into) noexcept {
    switch (sums) {
        case 0:
            return 0;
        case 1:
            return sum_block<true, false, false, Float, Bytes>(values, count, into);
        case 2:
            return sum_block<false, true, false, Float, Bytes>(values, count, into);
        case 4:
            return sum_block<false, false, true, Float, Bytes>(values, count, into);
        default:
            return sum_block<true, true, true, Float, Bytes>(values, count, into);
    }
}

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
