// SPDX-License-Identifier: Apache-2.0
// Stat (L1): which terms of a tensor are needed: one bit each, so that the union of all wishes is one `|`.
#pragma once

#include <spotter/core/fwd.hpp>

namespace spotter::inline SPOTTER_ABI {

// The values are part of the file format. The element count and the non-finite counts come with any term.
enum class terms : std::uint32_t {
    none = 0,
    nonfinite = 1U << 0,       // counts of nan, +inf and -inf, index of the first
    zeros = 1U << 1,           // count of +0 and -0
    range = 1U << 2,           // minimum and maximum
    abs_range = 1U << 3,       // minimum and maximum of |x|
    sum = 1U << 4,             // of the finite elements, in the order of stat/lanes.hpp
    sum_abs = 1U << 5,         // of |x|, likewise
    sum_squares = 1U << 6,     // of |x|^2, likewise
    variance = 1U << 7,        // block-wise second moment about the mean; brings sum
    product = 1U << 8,         // of the finite elements; of complex ones the real parts, as in sum and range
    change = 1U << 9,          // against the previous observation of the same tensor and mode; keeps one copy
    hash = 1U << 10,           // 64 bits over the value bits
    unit_activity = 1U << 16,  // a feature: active and finite elements of each unit
    shape = 1U << 17,          // that it was there, and how many elements; costs no look at the values
    quantiles = 1U << 18,      // a feature: see stat/distribution.hpp
    histogram = 1U << 19,      // a feature: the same
    feature = 1U << 30,        // what the rule itself makes of the values; see core/event.hpp
    payload = 1U << 31,        // the values themselves
    // Bits 20 to 26 are a number: how many links a chain of payloads may have (`delta` below).
};

[[nodiscard]] constexpr terms operator|(terms a, terms b) noexcept {
    return static_cast<terms>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
// What both ask for.
[[nodiscard]] constexpr terms operator&(terms a, terms b) noexcept {
    return static_cast<terms>(static_cast<std::uint32_t>(a) & static_cast<std::uint32_t>(b));
}
// Those of `set` that are not in `gone`.
[[nodiscard]] constexpr terms without(terms set, terms gone) noexcept {
    return static_cast<terms>(static_cast<std::uint32_t>(set) & ~static_cast<std::uint32_t>(gone));
}
constexpr terms& operator|=(terms& a, terms b) noexcept { return a = a | b; }  // adds to a wish
[[nodiscard]] constexpr bool any(terms set) noexcept { return set != terms::none; }
[[nodiscard]] constexpr bool has(terms set, terms wanted) noexcept { return (set & wanted) == wanted; }

// The values, as differences to the ones that were saved before of the same tensor: bit by bit (XOR), so that they come
// back exactly. `payload | delta{8}`: at most 8 observations in a row are differences, then one is whole. It pays where
// values change little from one saved step to the next, as weights do; the price is that a damaged one takes those
// behind it along, up to the next whole one, and that reading one means reading its chain.
struct delta {
    unsigned chain = 8;  // links; 0 is none, 64 at most

    static constexpr unsigned longest = 64;  // links; more are taken as so many
    // The payload with its chain, so that it stands where a collection's contents do.
    constexpr operator terms() const noexcept {  // so that it stands where a collection's contents do
        unsigned const links = chain < longest ? chain : longest;
        return static_cast<terms>(links << 20 | static_cast<std::uint32_t>(terms::payload));
    }
};

namespace detail {

inline constexpr terms chain_bits = static_cast<terms>(0x7FU << 20);
[[nodiscard]] constexpr unsigned chain_of(terms set) noexcept {
    return static_cast<std::uint32_t>(set & chain_bits) >> 20;
}
// What two collections ask for together. Where both want the values, the shorter chain serves both.
[[nodiscard]] constexpr terms together(terms a, terms b) noexcept {
    unsigned chain = chain_of(a) > chain_of(b) ? chain_of(a) : chain_of(b);
    if (has(a & b, terms::payload)) { chain = chain_of(a) < chain_of(b) ? chain_of(a) : chain_of(b); }
    return without(a | b, chain_bits) | static_cast<terms>(chain << 20);
}

}  // namespace detail

// The terms that the one pass over a tensor's memory produces.
inline constexpr terms pass_terms = terms::nonfinite | terms::zeros | terms::range | terms::abs_range | terms::sum |
                                    terms::sum_abs | terms::sum_squares | terms::variance | terms::product |
                                    terms::hash;

}  // namespace spotter::inline SPOTTER_ABI
