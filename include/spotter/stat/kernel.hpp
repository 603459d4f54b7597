// SPDX-License-Identifier: Apache-2.0
// Stat (L1): blocks of ordinary floats and doubles, many lanes at a time; bit-equal to gather_block by construction.
#pragma once

#include <spotter/stat/blocks.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Asks for memory of the next block, while this one is summed: a processor does not look beyond a page by itself, and a page is
// one block of floats. On Zen 4 it is as fast without (128 MiB: 13.6 and 13.7 GB/s), and slower where the requests are
// made in the first, fast walk over a block (10 to 12 GB/s).
SPOTTER_INLINE void fetch_ahead([[maybe_unused]] void const* now) noexcept {
    [[maybe_unused]] constexpr std::uintptr_t distance = 4096;
#if SPOTTER_GNU_VECTORS
    __builtin_prefetch(reinterpret_cast<void const*>(reinterpret_cast<std::uintptr_t>(now) + distance), 0, 2);
#endif
}

// Extremes of x or of |x| over all plain blocks, in independent vectors so that the comparisons overlap; they become one number at
// the end. min and max do not round, so their order does not matter.
template <bool Abs, class Float, std::size_t Bytes>
struct range_vectors {
    using V = vec<Float, Bytes>;
    static constexpr std::size_t step = Bytes / sizeof(Float);
    static constexpr std::size_t parts = lane_count / step < 4 ? lane_count / step : 4;
    V low[parts]{}, high[parts]{};
    bool any = false;

    SPOTTER_STRICT SPOTTER_INLINE static void load(Float const* from, V& x) noexcept {
        std::memcpy(&x, from, Bytes);
        if constexpr (Abs) { clear_sign(x); }
    }
    SPOTTER_STRICT SPOTTER_INLINE void add(Float const* values, std::size_t count) noexcept {
        SPOTTER_STRICT_BODY
        V least[parts], most[parts];
        SPOTTER_UNROLL
        for (std::size_t part = 0; part < parts; ++part) {
            load(values + part * step, least[part]);
            most[part] = any ? high[part] : least[part];
            least[part] = any ? low[part] : least[part];
        }
        any = true;
        for (std::size_t i = 0; i < count; i += step * parts) {
            SPOTTER_UNROLL
            for (std::size_t part = 0; part < parts; ++part) {
                V x;
                load(values + i + part * step, x);
                select(least[part], x < least[part], x, least[part]);
                select(most[part], x > most[part], x, most[part]);
            }
        }
        SPOTTER_UNROLL
        for (std::size_t part = 0; part < parts; ++part) { low[part] = least[part], high[part] = most[part]; }
    }
    SPOTTER_STRICT SPOTTER_INLINE void fold(double& lowest, double& highest) const noexcept {
        SPOTTER_STRICT_BODY
        lowest = low[0][0];
        highest = high[0][0];
        for (std::size_t part = 0; part < parts; ++part) {
            for (std::size_t i = 0; i < step; ++i) {
                lowest = low[part][i] < lowest ? low[part][i] : lowest;
                highest = high[part][i] > highest ? high[part][i] : highest;
            }
        }
    }
};

// How many vectors the 16 lanes of a sum are.
template <std::size_t Bytes>
inline constexpr std::size_t lane_parts = lane_count * sizeof(double) / Bytes;

// As many values as two vectors of doubles hold, widened. From AVX2 on straight from memory, which takes a quarter less than from a
// register. g++ has to be told by an instruction: it takes a conversion of half a vector of floats through memory.
template <std::size_t Bytes>
SPOTTER_INLINE void load_wide(float const* from, vec<double, Bytes> (&into)[2]) noexcept {
#if SPOTTER_X86_DISPATCH
    if constexpr (Bytes >= 32) {
        constexpr std::size_t wide = Bytes / sizeof(double);
        SPOTTER_UNROLL
        for (std::size_t k = 0; k < 2; ++k) {
#if defined(__clang__)
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

// sum + a * b in one instruction where the path has it, else in two. Only for products that do not round, so that both give the same
// bits: with 1, and of two floats. Processors add in other units than they multiply in; conversions from float share those of the
// additions, so that an addition as a product with 1 is done beside them.
template <std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE void add_exact_product(vec<double, Bytes>& sum, vec<double, Bytes> const& a,
                                                     vec<double, Bytes> const& b) noexcept {
    SPOTTER_STRICT_BODY
#if SPOTTER_X86_DISPATCH && !defined(__clang__)
    if constexpr (Bytes >= 32) {
        auto so_far = sum;  // a copy, or g++ keeps arrays of sums in memory
        asm("vfmadd231pd %2, %1, %0" : "+v"(so_far) : "v"(a), "v"(b));
        sum = so_far;
        return;
    }
#elif SPOTTER_X86_DISPATCH
    if constexpr (Bytes >= 32) {
        sum = __builtin_elementwise_fma(a, b, sum);
        return;
    }
#endif
    auto product = a * b;
    settle(product);
    sum += product;
}
// 1, and no compiler knows: a product with it stays one.
template <std::size_t Bytes>
SPOTTER_INLINE void set_to_one(vec<double, Bytes>& all) noexcept {
    double one = 1;
#if SPOTTER_X86_DISPATCH
    asm("" : "+x"(one));
#endif
    all = vec<double, Bytes>{} + one;
}

// Adds two vectors of a block's lanes to those of a tensor from number `first` on.
template <std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE void add_lanes(vec<double, Bytes> const (&block)[2], std::size_t first,
                                             lane_sums& into) noexcept {
    SPOTTER_STRICT_BODY
    SPOTTER_UNROLL
    for (vec<double, Bytes> const& each : block) {  // one at a time: g++ copies two in small pieces, through memory
        vec<double, Bytes> all;
        std::memcpy(&all, into.lane + first, Bytes);
        all += each;
        std::memcpy(into.lane + first, &all, Bytes);
        first += Bytes / sizeof(double);
    }
}

// lane_sums::fold, by vectors for as long as there are two.
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

// Adds the sums that are asked for; returns the block's sum where that is one of them. A walk for every two vectors of lanes:
// the accumulators of all would not fit the registers of SSE2 and AVX2.
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
                    if constexpr (Bytes >= 32) {
                        add_exact_product<Bytes>(sizes[k], size, one);
                    } else {
                        sizes[k] += size;
                    }
                }
                if constexpr (Squares && sizeof(Float) == 4) {
                    add_exact_product<Bytes>(squares[k], x[k], x[k]);
                } else if constexpr (Squares) {
                    D square = x[k] * x[k];
                    settle(square);
                    squares[k] += square;
                }
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

// The sum of (x - centre)^2; `Weighed`: of those elements whose weight is 1 and not 0.
template <bool Weighed, class Float, std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE double gap_block(Float const* values, [[maybe_unused]] Float const* weights,
                                               std::size_t count, double centre) noexcept {
    SPOTTER_STRICT_BODY
    using D = vec<double, Bytes>;
    constexpr std::size_t wide = Bytes / sizeof(double);
    D squares[lane_parts<Bytes>]{};
    D one;
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
                D gap = minus_centre;
                if constexpr (Bytes >= 32) {
                    add_exact_product<Bytes>(gap, x[k], one);
                } else {
                    gap += x[k];
                }
                if constexpr (Weighed) { gap *= weight[k]; }
                D square = gap * gap;
                settle(square);
                squares[part + k] += square;
            }
        }
    }
    return fold_lanes<Bytes>(squares);
}

// sum_block of the sums in a set: 1 sum, 2 magnitudes, 4 squares.
template <class Float, std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE double add_sums(int sums, Float const* values, std::size_t count, gathered& into) noexcept {
    switch (sums) {
        case 1:
            return sum_block<true, false, false, Float, Bytes>(values, count, into);
        case 2:
            return sum_block<false, true, false, Float, Bytes>(values, count, into);
        case 3:
            return sum_block<true, true, false, Float, Bytes>(values, count, into);
        case 4:
            return sum_block<false, false, true, Float, Bytes>(values, count, into);
        case 5:
            return sum_block<true, false, true, Float, Bytes>(values, count, into);
        case 6:
            return sum_block<false, true, true, Float, Bytes>(values, count, into);
        case 7:
            return sum_block<true, true, true, Float, Bytes>(values, count, into);
        default:
            return 0;
    }
}

// All blocks of a tensor that are a multiple of 16 elements long; the rest is left to the caller. Returns how many.
template <class Float, std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE std::size_t gather_blocks(Float const* values, std::size_t count,
                                                        std::uint64_t first_index, terms wanted,
                                                        gathered& into) noexcept {
    SPOTTER_STRICT_BODY
    constexpr std::size_t gap_bytes = Bytes < 32 ? Bytes : 32;  // on Zen 4 77 ns a block, 110 with 64
    bool const by_element = has(wanted, terms::product);        // which goes by the definition
    bool const spread = has(wanted, terms::variance);
    int const sums = (spread || has(wanted, terms::sum) ? 1 : 0) | (has(wanted, terms::sum_abs) ? 2 : 0) |
                     (has(wanted, terms::sum_squares) ? 4 : 0);
    range_vectors<false, Float, Bytes> extremes;
    range_vectors<true, Float, Bytes> abs_extremes;
    mixed_block<Float> parts;
    bool has_zeros = false, has_bad = false;  // the block before
    std::size_t done = 0;
    while (count - done >= lane_count) {
        std::size_t const left = count - done;
        std::size_t const size = left >= block_size ? block_size : left;
        std::size_t const whole = size / lane_count * lane_count;
        if (whole != size) { break; }  // the last, ragged block goes by the definition as a whole
        Float const* const block = values + done;
        bool plain = !by_element && !has_zeros && !has_bad && ordinary_block<Float, Bytes>(block, size);
        if (!plain && !by_element && !has_bad) {
            std::uint64_t const zeros = into.result.zeros;
            plain = plain_block<Float, Bytes>(block, size, into.result.zeros);
            has_zeros = into.result.zeros != zeros;
        }
        bool const mixed = !plain && !by_element &&
                           part_block<Float, Bytes>(block, size, first_index + done, parts, into.result);
        std::size_t const finite = mixed ? parts.finite : size;
        has_bad = mixed && finite < size;
        if (!plain && !mixed) {
            gather_block(element_view<Float>{block, size}, first_index + done, wanted, into);
        } else if (finite > 0) {
            Float const* const ranged = mixed ? parts.filled : block;
            Float const* const summed = mixed ? parts.zeroed : block;
            if (has(wanted, terms::range)) { extremes.add(ranged, size); }
            if (has(wanted, terms::abs_range)) { abs_extremes.add(ranged, size); }
            double const sum = add_sums<Float, Bytes>(sums, summed, size, into);
            if (spread) {
                auto const elements = static_cast<double>(finite);
                double const centre = sum / elements;
                double const squares =
                    mixed ? gap_block<true, Float, gap_bytes>(summed, parts.weight, size, centre)
                          : gap_block<false, Float, gap_bytes>(summed, nullptr, size, centre);
                into.spread.merge(elements, centre, squares);
            }
        }
        done += size;
    }
    double low = 0, high = 0;
    if (extremes.any) { extremes.fold(low, high), into.widen_range(low, high); }
    if (abs_extremes.any) { abs_extremes.fold(low, high), into.widen_abs_range(low, high); }
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
SPOTTER_STRICT SPOTTER_NOINLINE __attribute__((target("avx2,fma"))) inline std::size_t
gather_avx2(Float const* values, std::size_t count, std::uint64_t first_index, terms wanted, gathered& into) noexcept {
    return gather_blocks<Float, 32>(values, count, first_index, wanted, into);
}
template <class Float>
SPOTTER_STRICT SPOTTER_NOINLINE __attribute__((target("avx512f,avx512dq,fma"))) inline std::size_t
gather_avx512(Float const* values, std::size_t count, std::uint64_t first_index, terms wanted,
              gathered& into) noexcept {
    return gather_blocks<Float, 64>(values, count, first_index, wanted, into);
}
#endif

template <class Float>
inline std::size_t gather_fast(Float const* values, std::size_t count, std::uint64_t first_index, terms wanted,
                               gathered& into) noexcept {
#if SPOTTER_X86_DISPATCH
    if (__builtin_cpu_supports("fma")) {
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) {
            return gather_avx512(values, count, first_index, wanted, into);
        }
        if (__builtin_cpu_supports("avx2")) { return gather_avx2(values, count, first_index, wanted, into); }
    }
#endif
    return gather_baseline(values, count, first_index, wanted, into);
}

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
