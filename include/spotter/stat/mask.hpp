// SPDX-License-Identifier: Apache-2.0
// Stat (L1): which terms of a tensor are needed: one bit each, so that the union of all wishes is one `|`.
#pragma once

#include <spotter/stat/fwd.hpp>

namespace spotter::inline SPOTTER_ABI {

// The values are part of the file format. The element count and the non-finite counts come with any term.
enum class terms : std::uint32_t {
    none = 0,
    nonfinite = 1U << 0,       // counts of nan, +inf and -inf, index of the first
    zeros = 1U << 1,           // count of +0 and -0
    range = 1U << 2,           // minimum and maximum
    abs_range = 1U << 3,       // minimum and maximum of |x|
    sum = 1U << 4,             //
    sum_abs = 1U << 5,         //
    sum_squares = 1U << 6,     //
    variance = 1U << 7,        // block-wise second moment about the mean; brings sum
    product = 1U << 8,         //
    delta = 1U << 9,           // against the previous observation of the same tensor and mode; keeps one copy
    hash = 1U << 10,           // 64 bits over the value bits
    unit_activity = 1U << 16,  // a feature: active and finite elements of each unit
    shape = 1U << 17,          // that it was there, and how many elements; costs no look at the values
    quantiles = 1U << 18,      // a feature: see stat/distribution.hpp
    histogram = 1U << 19,      // a feature: the same
    payload = 1U << 31,        // the values themselves
};

[[nodiscard]] constexpr terms operator|(terms a, terms b) noexcept {
    return static_cast<terms>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
[[nodiscard]] constexpr terms operator&(terms a, terms b) noexcept {
    return static_cast<terms>(static_cast<std::uint32_t>(a) & static_cast<std::uint32_t>(b));
}
[[nodiscard]] constexpr terms without(terms set, terms gone) noexcept {
    return static_cast<terms>(static_cast<std::uint32_t>(set) & ~static_cast<std::uint32_t>(gone));
}
constexpr terms& operator|=(terms& a, terms b) noexcept { return a = a | b; }
[[nodiscard]] constexpr bool any(terms set) noexcept { return set != terms::none; }
[[nodiscard]] constexpr bool has(terms set, terms wanted) noexcept { return (set & wanted) == wanted; }

// The terms that the one pass over a tensor's memory produces.
inline constexpr terms pass_terms = terms::nonfinite | terms::zeros | terms::range | terms::abs_range | terms::sum |
                                    terms::sum_abs | terms::sum_squares | terms::variance | terms::product |
                                    terms::hash;

}  // namespace spotter::inline SPOTTER_ABI
