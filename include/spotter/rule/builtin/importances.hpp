// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): shared by the rules on feature importance: whether importances have shares at all.
#pragma once

#include <spotter/core/bits.hpp>
#include <spotter/rule/machine.hpp>
#include <spotter/stat/any_values.hpp>
#include <spotter/stat/statistic.hpp>

#include <bit>

namespace spotter::inline SPOTTER_ABI {

// One value for each feature of the model; a share is a value divided by the sum of all. Values that are not finite are
// left out. There are no shares where the sum is zero (no split yet) or a value is negative (weights of a linear
// booster). Of such tensors nothing is extracted, and nothing in steps other than train steps.
struct importances {
    // The sum is read from the statistics, so that it has the same bits everywhere.
    static constexpr stats_mask needs = stats_mask::feature | stats_mask::sum | stats_mask::range;

    double total = 0;            // of all features
    std::uint64_t features = 0;  // finite ones
    bool known = false;          // they are shares: finite, none negative, some above zero

    constexpr explicit importances(observation const& it) noexcept
        : total{sum(it.stats).value}, features{it.stats.finite()}, known{has_shares(it)} {}

    // Calls `use(index, value)` for each finite value.
    template <class Use>
    static constexpr void each(tensor_ref const& values, Use&& use) noexcept {
        visit_seen(values, [&](auto const& all) {
            std::size_t i = 0;
            for (auto const& each : all) {
                seen_element const one = detail::see(each);
                if (one.kind < number_class::pos_inf) { use(i, one.value); }
                ++i;
            }
        });
    }

private:
    [[nodiscard]] static constexpr bool has_shares(observation const& it) noexcept {
        measurement const all = sum(it.stats);
        measurement const least = minimum(it.stats);
        return all.known && all.value > 0 && least.known && least.value >= 0;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
