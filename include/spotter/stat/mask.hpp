// SPDX-License-Identifier: Apache-2.0
// Stat (L1): the statistics of a tensor that are wanted, one bit each: the union of several needs is one `|`.
#pragma once

#include <spotter/core/fwd.hpp>

namespace spotter::inline SPOTTER_ABI {

// A term is one bit. The values are part of the file format. Any term includes the element count and the non-finite
// counts.
enum class stats_mask : std::uint32_t {
    none = 0,
    nonfinite = 1U << 0,       // counts of nan, +inf and -inf, and the first one's index
    zeros = 1U << 1,           // count of +0 and -0
    range = 1U << 2,           // minimum and maximum
    abs_range = 1U << 3,       // minimum and maximum of |x|
    sum = 1U << 4,             // of the finite elements, in the order of stat/lanes.hpp
    sum_abs = 1U << 5,         // of |x|, likewise
    sum_squares = 1U << 6,     // of |x|^2, likewise
    variance = 1U << 7,        // block-wise second moment about the mean; includes sum
    product = 1U << 8,         // of the finite elements; of complex ones the real parts, like sum and range
    change = 1U << 9,          // since the previous observation of the same tensor and mode; keeps a copy
    hash = 1U << 10,           // 64 bits over the value bits
    unit_activity = 1U << 16,  // a feature: active and finite elements of each unit
    shape = 1U << 17,          // existence and number of elements; does not read the values
    quantiles = 1U << 18,      // a feature: see stat/distribution.hpp
    histogram = 1U << 19,      // likewise
    feature = 1U << 30,        // numbers that the rule extracts; see core/feature_list.hpp
    payload = 1U << 31,        // the values themselves
    // Bits 20 to 26 are a number: the most links of a payload chain (`delta` below).
};
using terms [[deprecated("terms is stats_mask since 0.2")]] = stats_mask;

[[nodiscard]] constexpr stats_mask operator|(stats_mask a, stats_mask b) noexcept {
    return static_cast<stats_mask>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
// The intersection.
[[nodiscard]] constexpr stats_mask operator&(stats_mask a, stats_mask b) noexcept {
    return static_cast<stats_mask>(static_cast<std::uint32_t>(a) & static_cast<std::uint32_t>(b));
}
// The terms of `set` that are not in `gone`.
[[nodiscard]] constexpr stats_mask without(stats_mask set, stats_mask gone) noexcept {
    return static_cast<stats_mask>(static_cast<std::uint32_t>(set) & ~static_cast<std::uint32_t>(gone));
}
constexpr stats_mask& operator|=(stats_mask& a, stats_mask b) noexcept { return a = a | b; }  // adds terms
[[nodiscard]] constexpr bool any(stats_mask set) noexcept { return set != stats_mask::none; }
[[nodiscard]] constexpr bool has(stats_mask set, stats_mask wanted) noexcept { return (set & wanted) == wanted; }

// Stores the values as bitwise differences (XOR) to the tensor's last saved ones, which is lossless. `payload |
// delta{8}`: after at most 8 differences in a row one payload is stored whole. It saves space if values change little
// from one saved step to the next, as weights do. The price: a damaged payload makes the following ones unreadable, up
// to the next whole one, and reading one reads its chain.
struct delta {
    unsigned chain = 8;  // links; 0: none; at most 64

    static constexpr unsigned longest = 64;  // larger values count as 64
    // The payload with its chain, for the contents of a collection.
    constexpr operator stats_mask() const noexcept {
        unsigned const links = chain < longest ? chain : longest;
        return static_cast<stats_mask>(links << 20 | static_cast<std::uint32_t>(stats_mask::payload));
    }
};

namespace detail {

inline constexpr stats_mask chain_bits = static_cast<stats_mask>(0x7FU << 20);
[[nodiscard]] constexpr unsigned chain_of(stats_mask set) noexcept {
    return static_cast<std::uint32_t>(set & chain_bits) >> 20;
}
// The terms of two collections together. If both want the values, the shorter chain applies.
[[nodiscard]] constexpr stats_mask together(stats_mask a, stats_mask b) noexcept {
    unsigned chain = chain_of(a) > chain_of(b) ? chain_of(a) : chain_of(b);
    if (has(a & b, stats_mask::payload)) { chain = chain_of(a) < chain_of(b) ? chain_of(a) : chain_of(b); }
    return without(a | b, chain_bits) | static_cast<stats_mask>(chain << 20);
}

}  // namespace detail

// The terms that one pass over a tensor's values computes.
inline constexpr stats_mask pass_terms =
    stats_mask::nonfinite | stats_mask::zeros | stats_mask::range | stats_mask::abs_range | stats_mask::sum |
    stats_mask::sum_abs | stats_mask::sum_squares | stats_mask::variance | stats_mask::product | stats_mask::hash;

}  // namespace spotter::inline SPOTTER_ABI
