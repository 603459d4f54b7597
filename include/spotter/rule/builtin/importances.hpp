// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): what the rules on feature importance share: when the importances of a tensor have shares at all.
#pragma once

#include <spotter/rule/machine.hpp>
#include <spotter/stat/lanes.hpp>
#include <spotter/stat/statistic.hpp>

namespace spotter::inline SPOTTER_ABI {

// One value a feature; a share is a value over the sum of all. Not finite ones are left out. No shares, and so nothing to judge, where
// the sum is zero (no split yet), where a value is negative (weights of a linear booster), or where the values are not at hand.
struct importances {
    // The sum is taken as a statistic, so that it has the same bits everywhere, and so that a record of the run shows that the
    // rule looked here even where it holds no values.
    static constexpr terms needs = terms::payload | terms::sum | terms::range;

    tensor_ref view{};
    double total = 0;
    std::uint64_t features = 0;  // finite ones
    bool known = false;

    constexpr explicit importances(observation const& it) noexcept : view{it.view}, features{it.stats.finite()} {
        measurement const all = sum(it.stats);
        measurement const least = minimum(it.stats);
        total = all.value;
        known = !view.absent() && all.known && total > 0 && least.known && least.value >= 0;
    }

    // Calls `use(index, value)` for each finite value.
    template <class Use>
    constexpr void each(Use&& use) const noexcept {
        visit_values(view, [&](auto values) {
            for (std::size_t i = 0; i < values.size(); ++i) {
                seen_element const one = detail::see(values[i]);
                if (one.kind < number_class::pos_inf) { use(i, one.value); }
            }
        });
    }
};

}  // namespace spotter::inline SPOTTER_ABI
