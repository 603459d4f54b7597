// SPDX-License-Identifier: Apache-2.0
// Stat (L1): the statistics of one tensor at one step, without its values.
#pragma once

#include <spotter/stat/mask.hpp>

namespace spotter::inline SPOTTER_ABI {

// The index of no element.
inline constexpr std::uint64_t no_index = ~std::uint64_t{0};

// A field is valid if its term is in `has`. Apart from the counts, all are over the finite elements, in doubles. For
// complex tensors sum_squares uses |x|^2, sum_abs and abs_range use |x|; sum, range and product use the real part.
struct summary {
    stats_mask has = stats_mask::none;  // the computed terms
    std::uint64_t count = 0;            // all elements

    std::uint64_t nan = 0;               // number of NaN
    std::uint64_t pos_inf = 0;           // number of +infinity
    std::uint64_t neg_inf = 0;           // number of -infinity
    std::uint64_t first_bad = no_index;  // storage index of the first non-finite element
    std::uint64_t zeros = 0;             // of either sign

    double minimum = 0, maximum = 0;          // of x
    double abs_minimum = 0, abs_maximum = 0;  // of |x|
    double sum = 0;                           // of x
    double sum_abs = 0;                       // of |x|
    double sum_squares = 0;                   // of x^2
    double moment2 = 0;                       // sum of (x - mean)^2
    double product = 1;                       // of x
    std::uint64_t hash = 0;                   // of the elements' bits

    // The change since the previous observation of the same tensor and mode. Undefined (has_previous false) at the
    // first observation, after a change of shape or type, and if either side has a non-finite element.
    bool has_previous = false;
    std::uint64_t previous_index = 0;  // the step index of the previous observation
    double previous_sum_squares = 0;   // of the previous values
    double delta_sum_squares = 0;      // sum of (x - previous)^2
    double dot = 0;                    // sum of x * previous
    std::uint64_t changed = 0;         // number of elements whose value differs

    // Elements that are NaN or infinite.
    [[nodiscard]] constexpr std::uint64_t nonfinite() const noexcept { return nan + pos_inf + neg_inf; }
    // Elements that are neither NaN nor infinite.
    [[nodiscard]] constexpr std::uint64_t finite() const noexcept { return count - nonfinite(); }
};

}  // namespace spotter::inline SPOTTER_ABI
