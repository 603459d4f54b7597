// SPDX-License-Identifier: Apache-2.0
// Stat (L1): sums all blocks of a tensor of floats or doubles, many lanes at a time, with the widest vectors of the
// processor.
#pragma once

#include <spotter/stat/spread.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Takes all blocks of a multiple of 16 elements; returns the number of elements taken. The caller takes the rest.
template <class Float, std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE std::size_t gather_blocks(Float const* values, std::size_t count,
                                                        std::uint64_t first_index, terms wanted,
                                                        gathered& into) noexcept {
    SPOTTER_STRICT_BODY
    bool const by_element = has(wanted, terms::product);  // by the definition
    bool const spread = has(wanted, terms::variance);
    int const sums = (spread || has(wanted, terms::sum) ? 1 : 0) | (has(wanted, terms::sum_abs) ? 2 : 0) |
                     (has(wanted, terms::sum_squares) ? 4 : 0);
    range_vectors<false, Float, Bytes> extremes;
    range_vectors<true, Float, Bytes> abs_extremes;
    spread_walk<Float, Bytes> walk;
    mixed_block<Float> parts;
    bool has_zeros = false, has_bad = false;  // of the previous block
    std::size_t done = 0;
    while (count - done >= lane_count) {
        std::size_t const left = count - done;
        std::size_t const size = left >= block_size ? block_size : left;
        std::size_t const whole = size / lane_count * lane_count;
        if (whole != size) { break; }  // the definition takes the whole last block if it is ragged
        Float const* const block = values + done;
        bool plain = !by_element && !has_zeros && !has_bad && ordinary_block<Float, Bytes>(block, size);
        if (!plain && !by_element && !has_bad) {
            std::uint64_t const zeros = into.result.zeros;
            plain = plain_block<Float, Bytes>(block, size, into.result.zeros);
            has_zeros = into.result.zeros != zeros;
        }
        bool const mixed =
            !plain && !by_element && part_block<Float, Bytes>(block, size, first_index + done, parts, into.result);
        std::size_t const finite = mixed ? parts.finite : size;
        has_bad = mixed && finite < size;
        if (!plain) { walk.close(into); }
        if (!plain && !mixed) {
            gather_block(element_view<Float>{block, size}, first_index + done, wanted, into);
        } else if (finite > 0) {
            Float const* const ranged = mixed ? parts.filled : block;
            Float const* const summed = mixed ? parts.zeroed : block;
            if (has(wanted, terms::abs_range)) { abs_extremes.add(ranged, size); }
            if (plain && spread) {
                walk.add(sums, block, size, extremes, into);
            } else {
                if (has(wanted, terms::range)) { extremes.add(ranged, size); }
                double const sum = add_sums<Float, Bytes>(sums, summed, size, into);
                if (spread) {
                    auto const elements = static_cast<double>(finite);
                    double const centre = sum / elements;
                    into.spread.merge(elements, centre,
                                      gap_block<true, Float, Bytes>(summed, parts.weight, size, centre));
                }
            }
        }
        done += size;
    }
    walk.close(into);
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
