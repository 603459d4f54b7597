// SPDX-License-Identifier: Apache-2.0
// Stat (L1): ordinary blocks with variance: one walk computes all sums of a block and the variance of the previous one.
#pragma once

#include <spotter/stat/sums.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// A block's mean is known only at its end, so its squared gaps are summed together with the sums of the next block. In
// separate walks each would wait for its own additions, and the second one for the mean. Widened values are kept for
// that: a store uses none of the adding units, but a second conversion would.
template <class Float, std::size_t Bytes>
class spread_walk {
    using D = vec<double, Bytes>;
    using range = range_vectors<false, Float, Bytes>;
    static constexpr bool widened = sizeof(Float) < sizeof(double);

public:
    // Takes a multiple of 16 elements. All sums are computed, because that costs little, but only those in `sums` are
    // added: 2 magnitudes, 4 squares; sum and extremes always.
    SPOTTER_STRICT SPOTTER_INLINE void add(int sums, Float const* values, std::size_t count, range& extremes,
                                           gathered& into) noexcept {
        extremes.begin(values);
        if (open_ == count) {
            take<true>(sums, values, count, extremes, into);
        } else {
            close(into);
            take<false>(sums, values, count, extremes, into);
        }
    }
    // Call it before a block that is not taken here, and at the end.
    SPOTTER_STRICT SPOTTER_INLINE void close(gathered& into) noexcept {
        SPOTTER_STRICT_BODY
        if (open_ == 0) { return; }
        merge(gap_block<false, double, gap_bytes<Bytes>>(before_, nullptr, open_, centre_), into);
        open_ = 0;
    }

private:
    SPOTTER_STRICT SPOTTER_INLINE void merge(double squared_gaps, gathered& into) noexcept {
        into.spread.merge(static_cast<double>(open_), centre_, squared_gaps);
    }
    // Adds the squared distances of two vectors to the mean.
    SPOTTER_STRICT SPOTTER_INLINE static void add_gaps(double const* from, D const& minus_centre, D const& one,
                                                       D (&squares)[2]) noexcept {
        SPOTTER_STRICT_BODY
        D x[2];
        load_wide<Bytes>(from, x);
        SPOTTER_UNROLL
        for (std::size_t k = 0; k < 2; ++k) {
            D gap = minus_centre;
            add_beside<Bytes>(gap, x[k], one);
            D square = gap * gap;
            force_rounding(square);
            squares[k] += square;
        }
    }
    // `Gaps`: also sums the gaps of the previous block, which has the same size.
    template <bool Gaps>
    SPOTTER_STRICT SPOTTER_INLINE void take(int sums, Float const* values, std::size_t count, range& extremes,
                                            gathered& into) noexcept {
        SPOTTER_STRICT_BODY
        using V = typename range::V;
        constexpr std::size_t wide = Bytes / sizeof(double);
        constexpr std::size_t ranged = 2 * wide / range::step;  // vectors of values for two vectors of doubles
        D sum[lane_parts<Bytes>];
        [[maybe_unused]] D gaps[lane_parts<Bytes>];
        D one;
        set_to_one<Bytes>(one);
        [[maybe_unused]] D const minus_centre = D{} - centre_;
        V least[ranged], most[ranged];
        SPOTTER_UNROLL
        for (std::size_t k = 0; k < ranged; ++k) { least[k] = extremes.low[k], most[k] = extremes.high[k]; }
        for (std::size_t part = 0; part < lane_parts<Bytes>; part += 2) {
            D plain[2]{}, sizes[2]{}, squares[2]{};
            [[maybe_unused]] D apart[2]{};
            for (std::size_t i = part * wide; i < count; i += lane_count) {
                if (part == 0) { fetch_ahead(values + i); }
                SPOTTER_UNROLL
                for (std::size_t k = 0; k < ranged; ++k) {
                    V x;
                    range::load(values + i + k * range::step, x);
                    range::take(x, least[k], most[k]);
                }
                D x[2];
                load_wide<Bytes>(values + i, x);
                if constexpr (Gaps) { add_gaps(before_ + i, minus_centre, one, apart); }
                if constexpr (widened) { std::memcpy(wide_ + i, x, sizeof x); }
                SPOTTER_UNROLL
                for (std::size_t k = 0; k < 2; ++k) {
                    plain[k] += x[k];
                    D size = x[k];
                    clear_sign(size);
                    add_beside<Bytes>(sizes[k], size, one);
                    add_square<Float, Bytes>(squares[k], x[k]);
                }
            }
            add_lanes<Bytes>(plain, part * wide, into.sum);
            if ((sums & 2) != 0) { add_lanes<Bytes>(sizes, part * wide, into.sum_abs); }
            if ((sums & 4) != 0) { add_lanes<Bytes>(squares, part * wide, into.sum_squares); }
            sum[part] = plain[0], sum[part + 1] = plain[1];
            if constexpr (Gaps) { gaps[part] = apart[0], gaps[part + 1] = apart[1]; }
        }
        SPOTTER_UNROLL
        for (std::size_t k = 0; k < ranged; ++k) { extremes.low[k] = least[k], extremes.high[k] = most[k]; }
        if constexpr (Gaps) { merge(fold_lanes<Bytes>(gaps), into); }
        open_ = count;
        centre_ = fold_lanes<Bytes>(sum) / static_cast<double>(count);
        if constexpr (widened) {
            before_ = wide_;
        } else {
            before_ = values;
        }
    }

    alignas(64) double wide_[widened ? block_size : 1];
    double const* before_ = nullptr;  // the previous block, whose gaps are not summed yet
    std::size_t open_ = 0;            // its elements; 0: none
    double centre_ = 0;               // its mean
};

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
