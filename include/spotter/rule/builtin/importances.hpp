// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): what the rules on feature importance share: when the importances of a tensor have shares at all.
#pragma once

#include <spotter/core/bits.hpp>
#include <spotter/rule/machine.hpp>
#include <spotter/stat/lanes.hpp>
#include <spotter/stat/statistic.hpp>

#include <bit>

namespace spotter::inline SPOTTER_ABI {

// One value a feature of the model; a share is a value over the sum of all. Not finite ones are left out. No shares, and so nothing
// to judge, where the sum is zero (no split yet), or where a value is negative (weights of a linear booster). What is extracted, and
// so recorded, are the values in their places, of train steps, which alone are judged; of tensors without shares nothing is.
struct importances {
    // The sum is taken as a statistic, so that it has the same bits everywhere.
    static constexpr terms needs = terms::feature | terms::sum | terms::range;
    static constexpr std::uint64_t key = key_of("importances");

    std::span<double const> values{};  // a NaN for each that is not finite
    double total = 0;
    std::uint64_t features = 0;  // finite ones
    bool known = false;

    constexpr importances(observation const& it, std::span<double const> made) noexcept
        : values{made}, total{sum(it.stats).value}, features{it.stats.finite()}, known{has_shares(it)} {}

    static constexpr void extract(observation const& it, tensor_ref const& values, feature& out) noexcept {
        if (!has_shares(it)) { return; }
        constexpr auto no_number = std::bit_cast<double>(0x7FF8000000000000ULL);
        visit_values(values, [&](auto all) {
            for (std::size_t i = 0; i < all.size(); ++i) {
                seen_element const one = detail::see(all[i]);
                out.push(one.kind < number_class::pos_inf ? one.value : no_number);
            }
        });
    }

    // Calls `use(index, value)` for each finite value.
    template <class Use>
    constexpr void each(Use&& use) const noexcept {
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (is_finite(values[i])) { use(i, values[i]); }
        }
    }

private:
    [[nodiscard]] static constexpr bool has_shares(observation const& it) noexcept {
        measurement const all = sum(it.stats);
        measurement const least = minimum(it.stats);
        return all.known && all.value > 0 && least.known && least.value >= 0;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
