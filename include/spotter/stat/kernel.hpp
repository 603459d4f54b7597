// SPDX-License-Identifier: Apache-2.0
// Stat (L1): sums all blocks of a tensor of floats or doubles, many lanes at a time, with the widest vectors of the
// processor.
#pragma once

#include <spotter/stat/spread.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// The wanted sums as bits: 1 of values, 2 of magnitudes, 4 of squares.
[[nodiscard]] constexpr int sums_in(stats_mask wanted) noexcept {
    return (has(wanted, stats_mask::variance) || has(wanted, stats_mask::sum) ? 1 : 0) |
           (has(wanted, stats_mask::sum_abs) ? 2 : 0) | (has(wanted, stats_mask::sum_squares) ? 4 : 0);
}

// How a block is summed: as it is, with zeros and non-finite elements set apart, or element by element.
enum class block_way { plain, parts, elements };

// Classifies consecutive blocks. It expects a block to be like the previous one.
template <class Float, std::size_t Bytes>
struct block_sorter {
    mixed_block<Float> parts;
    bool has_zeros = false, has_bad = false;  // of the previous block

    SPOTTER_STRICT SPOTTER_INLINE block_way way_of(Float const* block, std::size_t size, std::uint64_t first_index,
                                                   summary& into) noexcept {
        if (!has_zeros && !has_bad && ordinary_block<Float, Bytes>(block, size)) { return block_way::plain; }
        if (!has_bad) {
            std::uint64_t const zeros = into.zeros;
            bool const plain = plain_block<Float, Bytes>(block, size, into.zeros);
            has_zeros = into.zeros != zeros;
            if (plain) { return block_way::plain; }
        }
        bool const mixed = part_block<Float, Bytes>(block, size, first_index, parts, into);
        has_bad = mixed && parts.finite < size;
        return mixed ? block_way::parts : block_way::elements;
    }
};

// Takes all blocks of a multiple of 16 elements; returns the number of elements taken. The caller takes the rest.
template <class Float, std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE std::size_t gather_blocks(Float const* values, std::size_t count,
                                                        std::uint64_t first_index, stats_mask wanted,
                                                        gathered& into) noexcept {
    SPOTTER_STRICT_BODY
    bool const by_element = has(wanted, stats_mask::product);  // by the definition
    bool const spread = has(wanted, stats_mask::variance);
    int const sums = sums_in(wanted);
    range_vectors<false, Float, Bytes> extremes;
    range_vectors<true, Float, Bytes> abs_extremes;
    spread_walk<Float, Bytes> walk;
    block_sorter<Float, Bytes> sorter;
    std::size_t done = 0;
    while (count - done >= lane_count) {
        std::size_t const left = count - done;
        std::size_t const size = left >= block_size ? block_size : left;
        std::size_t const whole = size / lane_count * lane_count;
        if (whole != size) { break; }  // the definition takes the whole last block if it is ragged
        Float const* const block = values + done;
        block_way const way =
            by_element ? block_way::elements : sorter.way_of(block, size, first_index + done, into.result);
        bool const plain = way == block_way::plain;
        std::size_t const finite = plain ? size : sorter.parts.finite;
        if (!plain) { walk.close(into); }
        if (way == block_way::elements) {
            gather_block(element_view<Float>{block, size}, first_index + done, wanted, into);
        } else if (finite > 0) {
            Float const* const ranged = plain ? block : sorter.parts.filled;
            Float const* const summed = plain ? block : sorter.parts.zeroed;
            if (has(wanted, stats_mask::abs_range)) { abs_extremes.add(ranged, size); }
            if (plain && spread) {
                walk.add(sums, block, size, extremes, into);
            } else {
                if (has(wanted, stats_mask::range)) { extremes.add(ranged, size); }
                double const sum = add_sums<Float, Bytes>(sums, summed, size, into);
                if (spread) {
                    auto const elements = static_cast<double>(finite);
                    double const centre = sum / elements;
                    into.spread.merge(elements, centre,
                                      gap_block<true, Float, Bytes>(summed, sorter.parts.weight, size, centre));
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
                                                                   std::uint64_t first_index, stats_mask wanted,
                                                                   gathered& into) noexcept {
    return gather_blocks<Float, 16>(values, count, first_index, wanted, into);
}
#if SPOTTER_X86_DISPATCH
template <class Float>
SPOTTER_STRICT SPOTTER_NOINLINE __attribute__((target("avx2,fma"))) inline std::size_t
gather_avx2(Float const* values, std::size_t count, std::uint64_t first_index, stats_mask wanted,
            gathered& into) noexcept {
    return gather_blocks<Float, 32>(values, count, first_index, wanted, into);
}
template <class Float>
SPOTTER_STRICT SPOTTER_NOINLINE __attribute__((target("avx512f,avx512dq,fma"))) inline std::size_t
gather_avx512(Float const* values, std::size_t count, std::uint64_t first_index, stats_mask wanted,
              gathered& into) noexcept {
    return gather_blocks<Float, 64>(values, count, first_index, wanted, into);
}
#endif

template <class Float>
inline std::size_t gather_fast(Float const* values, std::size_t count, std::uint64_t first_index, stats_mask wanted,
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
