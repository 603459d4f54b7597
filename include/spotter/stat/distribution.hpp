// SPDX-License-Identifier: Apache-2.0
// Stat (L1): the distribution feature: quantiles and a histogram of a tensor's finite values.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/tensor_ref.hpp>
#include <spotter/stat/mask.hpp>

#include <array>
#include <bit>
#include <span>

namespace spotter::inline SPOTTER_ABI {

// The levels at which quantiles are kept, in thousandths: 0 is the minimum, 500 the median, 1000 the maximum.
inline constexpr std::array<std::uint16_t, 19> quantile_levels{0,   1,   10,  50,  100, 200, 250, 300, 400, 500,
                                                               600, 700, 750, 800, 900, 950, 990, 999, 1000};
inline constexpr std::size_t histogram_bins = 64;  // of every histogram

// For finite values; of complex numbers the real part. -0 counts as 0.
struct distribution {
    bool has_quantiles = false;  // they are wanted, and there is a finite value
    bool has_histogram = false;  // likewise; then low, high and bins are set
    std::array<double, quantile_levels.size()>
        quantiles{};           // nearest rank: the sorted element number ceil(q * n), from 1
    double low = 0, high = 0;  // the smallest and the largest value
    // Bins of equal width from low to high, which is included; all values are in bin 0 if low == high.
    std::array<std::uint64_t, histogram_bins> bins{};
};

// The terms for quantiles, in a collection or a rule.
inline constexpr stats_mask quantiles = stats_mask::quantiles | stats_mask::nonfinite;
inline constexpr stats_mask histogram = stats_mask::histogram | stats_mask::nonfinite;  // likewise for the histogram
// The two terms without the counts that are part of the above.
inline constexpr stats_mask distribution_terms = stats_mask::quantiles | stats_mask::histogram;

namespace detail {

// Maps values to unsigned integers in the same order, because -ffast-math may break floating-point comparisons.
[[nodiscard]] constexpr std::uint64_t key_of(double const& value) noexcept {
    constexpr std::uint64_t sign = std::uint64_t{1} << 63U;
    auto bits = std::bit_cast<std::uint64_t>(value);
    if (bits == sign) { bits = 0; }
    return (bits & sign) != 0 ? ~bits : bits | sign;
}
[[nodiscard]] constexpr double value_of_key(std::uint64_t key) noexcept {
    constexpr std::uint64_t sign = std::uint64_t{1} << 63U;
    return std::bit_cast<double>((key & sign) != 0 ? key ^ sign : ~key);
}

// The index, from 0, of the sorted element number ceil(thousandths / 1000 * count).
[[nodiscard]] constexpr std::size_t nearest_rank(std::uint64_t thousandths, std::size_t count) noexcept {
    std::uint64_t const whole = std::uint64_t{count} / 1000 * thousandths;
    std::uint64_t const rest = std::uint64_t{count} % 1000 * thousandths;
    auto const rank = as_size(whole + (rest + 999) / 1000);
    return rank == 0 ? 0 : rank - 1;
}

// Reorders `keys` until each of the ascending `ranks` has the key that it has in sorted order. Expected O(n log r):
// three-way partitions around pivots of a fixed pseudo-random series, only where there are ranks; recursion into the
// smaller part.
constexpr void select_ranks(std::span<std::uint64_t> keys, std::size_t offset, std::span<std::size_t const> ranks,
                            std::uint64_t series = 0x9E3779B97F4A7C15ULL) noexcept {
    while (!ranks.empty() && keys.size() > 1) {
        series ^= series << 13U, series ^= series >> 7U, series ^= series << 17U;
        std::uint64_t const pivot = keys[as_size(series % keys.size())];
        std::size_t below = 0, at = 0, above = keys.size();
        while (at < above) {
            std::uint64_t const key = keys[at];
            if (key < pivot) {
                keys[at++] = keys[below];
                keys[below++] = key;
            } else if (key > pivot) {
                keys[at] = keys[--above];
                keys[above] = key;
            } else {
                ++at;
            }
        }
        std::size_t left = 0, right = ranks.size();
        while (left < ranks.size() && ranks[left] - offset < below) { ++left; }
        while (right > left && ranks[right - 1] - offset >= above) { --right; }
        std::span<std::uint64_t> const lower = keys.first(below);
        std::span<std::uint64_t> const upper = keys.subspan(above);
        if (lower.size() < upper.size()) {
            select_ranks(lower, offset, ranks.first(left), series);
            ranks = ranks.subspan(right), keys = upper, offset += above;
        } else {
            select_ranks(upper, offset + above, ranks.subspan(right), series);
            ranks = ranks.first(left), keys = lower;
        }
    }
}

// Halves the values before subtracting them, so that no difference overflows.
[[nodiscard]] SPOTTER_STRICT constexpr std::size_t bin_of(double value, double low, double high) noexcept {
    SPOTTER_STRICT_BODY
    double const width = high * 0.5 - low * 0.5;
    double const from = value * 0.5 - low * 0.5;
    if (!(width > 0)) { return 0; }
    auto const bin = static_cast<std::size_t>(from / width * static_cast<double>(histogram_bins));
    return bin < histogram_bins ? bin : histogram_bins - 1;
}

}  // namespace detail

// The distribution terms in `wanted`; nothing for a tensor without a finite value. Quantiles need a `scratch` with one
// element for each of the tensor's. Does not allocate.
SPOTTER_WHERE_CALLED [[nodiscard]] distribution distribution_of(tensor_ref const& tensor, stats_mask wanted,
                                                                std::span<std::uint64_t> scratch) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/stat/any_values.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_WHERE_CALLED_BODY distribution distribution_of(tensor_ref const& tensor, stats_mask wanted,
                                                       std::span<std::uint64_t> scratch) noexcept {
    distribution found;
    std::size_t count = 0;
    std::uint64_t least = ~std::uint64_t{0}, greatest = 0;
    bool const sorted = has(wanted, stats_mask::quantiles) && scratch.size() >= tensor.count;
    if (tensor.type == dtype::text) { return found; }
    visit_seen(tensor, [&](auto const& values) {
        for (auto const& each : values) {
            seen_element const it = detail::see(each);
            if (it.kind >= number_class::pos_inf) { continue; }
            std::uint64_t const key = detail::key_of(it.value);
            if (sorted) { scratch[count] = key; }
            ++count;
            least = key < least ? key : least;
            greatest = key > greatest ? key : greatest;
        }
    });
    if (count == 0) { return found; }
    if (has(wanted, stats_mask::histogram)) {
        found.has_histogram = true;
        found.low = detail::value_of_key(least);
        found.high = detail::value_of_key(greatest);
        visit_seen(tensor, [&](auto const& values) {
            for (auto const& each : values) {
                seen_element const it = detail::see(each);
                if (it.kind < number_class::pos_inf) { ++found.bins[detail::bin_of(it.value, found.low, found.high)]; }
            }
        });
    }
    if (sorted) {
        found.has_quantiles = true;
        std::array<std::size_t, quantile_levels.size()> ranks{};
        for (std::size_t i = 0; i < ranks.size(); ++i) { ranks[i] = detail::nearest_rank(quantile_levels[i], count); }
        detail::select_ranks(scratch.first(count), 0, ranks);
        for (std::size_t i = 0; i < ranks.size(); ++i) { found.quantiles[i] = detail::value_of_key(scratch[ranks[i]]); }
    }
    return found;
}

}  // namespace spotter::inline SPOTTER_ABI

#endif
