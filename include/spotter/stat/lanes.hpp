// SPDX-License-Identifier: Apache-2.0
// Stat (L1): the definition of every sum, in plain code: 16 lanes, blocks of 1024, a fixed order of merging.
#pragma once

#include <spotter/core/tensor_ref.hpp>
#include <spotter/stat/summary.hpp>

namespace spotter::inline SPOTTER_ABI {

// Element i of a block is added to lane i % 16, in element order. A block's lanes are added to the tensor's lanes. At
// the end the 16 lanes fold in halves (0 with 8, 1 with 9, ... then 0 with 4, ...). Stored statistics rely on this
// order: a sum recomputed from the payload has the same bits, for every compiler and all of its flags.
inline constexpr std::size_t lane_count = 16;
inline constexpr std::size_t block_size = 1024;  // elements; the last block may be shorter

struct lane_sums {              // independent lanes: a compiler may vectorize them without changing a bit
    double lane[lane_count]{};  // element i of a block goes to lane i % 16

    // Adds lane by lane.
    SPOTTER_STRICT constexpr void add(lane_sums const& block) noexcept {
        SPOTTER_STRICT_BODY
        for (std::size_t i = 0; i < lane_count; ++i) { lane[i] += block.lane[i]; }
    }
    // The sum of all 16 lanes, folded in halves.
    [[nodiscard]] SPOTTER_STRICT constexpr double fold() const noexcept {
        SPOTTER_STRICT_BODY
        double folded[lane_count];
        for (std::size_t i = 0; i < lane_count; ++i) { folded[i] = lane[i]; }
        for (std::size_t width = lane_count / 2; width > 0; width /= 2) {
            for (std::size_t i = 0; i < width; ++i) { folded[i] += folded[i + width]; }
        }
        return folded[0];
    }
};

// The sums of one block. Those that need the mean take a second walk over the block, while it is in the cache.
struct block_sums {
    // Over finite elements: x, |x|, |x|^2; squared distances to the mean.
    lane_sums sum, sum_abs, sum_squares, squared_gaps;
    std::uint64_t finite = 0;  // number of finite elements
};

// One element as statistics use it.
struct seen_element {
    double value;       // of a complex number the real part; 0, like size and square, if not finite
    double size;        // |x|
    double square;      // |x|^2
    number_class kind;  // nan takes precedence over infinities in a complex number
};

namespace detail {

[[nodiscard]] constexpr seen_element see_real(double value, number_class kind) noexcept {
    double square = value * value;
    force_rounding(square);
    return {value, magnitude(value), square, kind};
}
[[nodiscard]] constexpr seen_element see(float const& value) noexcept {
    number_class const kind = classify(value);
    return kind < number_class::pos_inf ? see_real(widen(value), kind) : seen_element{0, 0, 0, kind};
}
[[nodiscard]] constexpr seen_element see(double const& value) noexcept {
    number_class const kind = classify(value);
    return kind < number_class::pos_inf ? see_real(value, kind) : seen_element{0, 0, 0, kind};
}
template <std::integral Integer>
[[nodiscard]] constexpr seen_element see(Integer value) noexcept {
    return see_real(static_cast<double>(value), value == Integer{} ? number_class::zero : number_class::normal);
}
template <class Small>
    requires requires(Small value) { to_float(value); }
[[nodiscard]] constexpr seen_element see(Small value) noexcept {
    float const wide = __builtin_bit_cast(float, float_bits_of(value));
    return see(wide);
}
template <class Pair>
    requires requires(Pair value) { value.im; }
[[nodiscard]] SPOTTER_STRICT constexpr seen_element see(Pair const& value) noexcept {
    SPOTTER_STRICT_BODY
    seen_element const re = see(value.re);
    seen_element const im = see(value.im);
    number_class const kind = re.kind > im.kind ? re.kind : im.kind;
    if (kind >= number_class::pos_inf) { return {0, 0, 0, kind}; }
    double const square = re.square + im.square;
    return {re.value, square_root(square), square, kind == number_class::zero ? kind : number_class::normal};
}
// Returns its argument, so that a walk takes plain elements and seen ones alike.
[[nodiscard]] constexpr seen_element const& see(seen_element const& it) noexcept { return it; }

}  // namespace detail

// Merges the second moments of blocks (Chan, Golub & LeVeque 1979); more accurate than a plain sum of squares.
struct moments {
    // Number of elements so far, their mean, and the sum of squared distances to it.
    double count = 0, mean = 0, about_mean = 0;

    // Merges a block; in order. A block without elements changes nothing.
    SPOTTER_STRICT constexpr void merge(double block_count, double block_mean, double block_about_mean) noexcept {
        SPOTTER_STRICT_BODY
        if (!(block_count > 0)) { return; }
        double const total = count + block_count;
        double const gap = block_mean - mean;
        double step = gap * (block_count / total);
        double between = gap * gap * (count * block_count / total);
        force_rounding(step), force_rounding(between);
        mean += step;
        about_mean += block_about_mean + between;
        count = total;
    }
};

// The sums over all blocks of a tensor.
struct gathered {
    summary result{};                               // the finished parts: counts, extremes, product
    lane_sums sum, sum_abs, sum_squares;            // of all closed blocks
    moments spread;                                 // only if variance is wanted
    bool any_range = false, any_abs_range = false;  // whether `result` has extremes of x, of |x|

    // Counts a non-finite element; indices must increase.
    constexpr void count_bad(number_class kind, std::uint64_t index) noexcept {
        if (result.first_bad == no_index) { result.first_bad = index; }
        if (kind == number_class::nan) {
            ++result.nan;
        } else if (kind == number_class::pos_inf) {
            ++result.pos_inf;
        } else {
            ++result.neg_inf;
        }
    }
    // Includes extremes of x.
    constexpr void widen_range(double low, double high) noexcept {
        if (!any_range || low < result.minimum) { result.minimum = low; }
        if (!any_range || high > result.maximum) { result.maximum = high; }
        any_range = true;
    }
    // Includes extremes of |x|.
    constexpr void widen_abs_range(double low, double high) noexcept {
        if (!any_abs_range || low < result.abs_minimum) { result.abs_minimum = low; }
        if (!any_abs_range || high > result.abs_maximum) { result.abs_maximum = high; }
        any_abs_range = true;
    }
    // Adds a block's sums, in order; its extremes and counts were added before.
    SPOTTER_STRICT constexpr void close_block(block_sums const& block, stats_mask wanted) noexcept {
        SPOTTER_STRICT_BODY
        sum.add(block.sum);
        sum_abs.add(block.sum_abs);
        sum_squares.add(block.sum_squares);
        if (has(wanted, stats_mask::variance) && block.finite > 0) {
            auto const count = static_cast<double>(block.finite);
            spread.merge(count, block.sum.fold() / count, block.squared_gaps.fold());
        }
    }
    // Call it once, at the end. Unwanted terms may have values, too, but are not in `has`.
    [[nodiscard]] SPOTTER_STRICT constexpr summary finish(stats_mask wanted) noexcept {
        SPOTTER_STRICT_BODY
        result.has = (wanted & pass_terms) | stats_mask::nonfinite;
        if (has(wanted, stats_mask::variance)) { result.has |= stats_mask::sum; }
        result.sum = sum.fold();
        result.sum_abs = sum_abs.fold();
        result.sum_squares = sum_squares.fold();
        result.moment2 = spread.about_mean;
        // The sign of a zero extreme would depend on which zero came first. By bits: -ffast-math ignores -0.
        if (std::bit_cast<std::uint64_t>(result.minimum) == f64_bits::sign) { result.minimum = 0; }
        if (std::bit_cast<std::uint64_t>(result.maximum) == f64_bits::sign) { result.maximum = 0; }
        return result;
    }
};

// One block by the definition, element by element. Used for blocks with non-finite or subnormal elements, for complex
// and short tensors, in static_asserts, and as the reference in tests of the fast path.
template <class Values>
SPOTTER_STRICT constexpr void gather_block(Values const& block, std::uint64_t first_index, stats_mask wanted,
                                           gathered& into) noexcept {
    SPOTTER_STRICT_BODY
    block_sums sums;
    std::size_t i = 0;
    for (auto const& each : block) {
        std::size_t const at = i++, lane = at % lane_count;
        seen_element const x = detail::see(each);
        if (x.kind >= number_class::pos_inf) {
            into.count_bad(x.kind, first_index + at);
            continue;
        }
        ++sums.finite;
        into.result.zeros += x.kind == number_class::zero ? 1 : 0;
        into.widen_range(x.value, x.value);
        into.widen_abs_range(x.size, x.size);
        sums.sum.lane[lane] += x.value;
        sums.sum_abs.lane[lane] += x.size;
        sums.sum_squares.lane[lane] += x.square;
        if (has(wanted, stats_mask::product)) { into.result.product *= x.value; }
    }
    if (has(wanted, stats_mask::variance) && sums.finite > 0) {
        double const centre = sums.sum.fold() / static_cast<double>(sums.finite);
        i = 0;
        for (auto const& each : block) {
            std::size_t const lane = i++ % lane_count;
            seen_element const x = detail::see(each);
            if (x.kind >= number_class::pos_inf) { continue; }
            double const gap = x.value - centre;
            double square = gap * gap;
            force_rounding(square);
            sums.squared_gaps.lane[lane] += square;
        }
    }
    into.close_block(sums, wanted);
}

}  // namespace spotter::inline SPOTTER_ABI
