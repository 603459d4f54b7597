// SPDX-License-Identifier: Apache-2.0
// Stat (L1): what is known of one tensor at one step, without its values.
#pragma once

#include <spotter/stat/mask.hpp>

namespace spotter::inline SPOTTER_ABI {

// No element.
inline constexpr std::uint64_t no_index = ~std::uint64_t{0};

// A field is meaningful when its term is in `has`. All are over the finite elements but the counts; doubles throughout.
// For complex tensors |x|^2 enters sum_squares, |x| enters sum_abs and abs_range; sum, range and product are of the
// real part.
struct summary {
    terms has = terms::none;  // what was taken
    std::uint64_t count = 0;  // elements, finite or not

    std::uint64_t nan = 0;               // of these
    std::uint64_t pos_inf = 0;           // of these
    std::uint64_t neg_inf = 0;           // of these
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

    // Against the previous observation of the same tensor and mode; undefined (has_previous false) at the first, after
    // a change of shape or type, and where either side has a non-finite element.
    bool has_previous = false;
    std::uint64_t previous_index = 0;  // its step index
    double previous_sum_squares = 0;   // of the previous values
    double delta_sum_squares = 0;      // sum of (x - previous)^2
    double dot = 0;                    // sum of x * previous
    std::uint64_t changed = 0;         // elements whose value differs

    // Elements that are NaN or infinite.
    [[nodiscard]] constexpr std::uint64_t nonfinite() const noexcept { return nan + pos_inf + neg_inf; }
    // Elements that are neither.
    [[nodiscard]] constexpr std::uint64_t finite() const noexcept { return count - nonfinite(); }
};

}  // namespace spotter::inline SPOTTER_ABI
