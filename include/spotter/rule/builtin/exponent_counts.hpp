// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): the number of a tensor's elements at each binary exponent, as a feature.
#pragma once

#include <spotter/rule/machine.hpp>
#include <spotter/stat/any_values.hpp>

#include <array>

namespace spotter::inline SPOTTER_ABI {

// The exponent of x is floor(log2 |x|), for finite elements that are not zero. As numbers: the least exponent that
// occurs, then the counts from there up to the greatest. Exponents beyond +-192 are counted at +-192: no low-precision
// format distinguishes them.
struct exponent_counts {
    static constexpr int least = -192, greatest = 192;  // exponents that have a count of their own

    std::span<double const> all{};  // as in a record; empty: none

    // The key of the feature, the same for every rule that reads it.
    [[nodiscard]] static constexpr std::uint64_t key() noexcept { return key_of("exponent_counts", least, greatest); }
    static constexpr void extract(tensor_ref const& values, feature& out) noexcept {
        std::array<std::uint64_t, greatest - least + 1> counts{};
        visit_seen(values, [&](auto const& elements) {
            for (auto const& each : elements) {
                seen_element const one = detail::see(each);
                bool const counted = one.kind == number_class::normal || one.kind == number_class::subnormal;
                if (counted) { ++counts[static_cast<std::size_t>(clamped(exponent_of(one.size)) - least)]; }
            }
        });
        std::size_t first = 0, end = counts.size();
        while (first < end && counts[first] == 0) { ++first; }
        while (end > first && counts[end - 1] == 0) { --end; }
        if (first == end) { return; }
        out.push(static_cast<double>(first) + least);
        for (std::size_t i = first; i < end; ++i) { out.push(static_cast<double>(counts[i])); }
    }

    // Requires a positive finite number.
    [[nodiscard]] static constexpr int exponent_of(double value) noexcept {
        return static_cast<int>(std::bit_cast<std::uint64_t>(value) >> 52U & 0x7FFU) - 1023;
    }
    [[nodiscard]] constexpr bool empty() const noexcept { return all.size() < 2; }
    // The share of elements whose exponent is at most `limit`.
    [[nodiscard]] SPOTTER_STRICT constexpr double share_up_to(int limit) const noexcept {
        SPOTTER_STRICT_BODY
        double low = 0, total = 0;
        for (std::size_t i = 1; i < all.size(); ++i) {
            double const exponent = all[0] + static_cast<double>(i - 1);
            low += exponent <= limit ? all[i] : 0;
            total += all[i];
        }
        return low / total;
    }

private:
    [[nodiscard]] static constexpr int clamped(int exponent) noexcept {
        return exponent < least ? least : exponent > greatest ? greatest : exponent;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
