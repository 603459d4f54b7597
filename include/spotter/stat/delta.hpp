// SPDX-License-Identifier: Apache-2.0
// Stat (L1): the change of a tensor since its previous observation, against a retained copy.
#pragma once

#include <spotter/stat/lanes.hpp>

namespace spotter::inline SPOTTER_ABI {

// Fills the delta fields of `into`. Both views have the same type and shape. Where either has a non-finite element the delta
// stays undefined (has_previous false): a change from or to NaN has no size. Sums are lane sums over the whole tensor.
SPOTTER_STRICT constexpr void compare_with_previous(tensor_ref const& now, tensor_ref const& before, std::uint64_t previous_index,
                                                    summary& into) noexcept {
    SPOTTER_STRICT_BODY
    into.has |= terms::delta;
    into.has_previous = false;
    if (now.type != before.type || now.shape != before.shape) { return; }
    lane_sums gap, dot, old;
    std::uint64_t changed = 0;
    bool finite = true;
    visit_values(now, [&](auto values) SPOTTER_STRICT {
        SPOTTER_STRICT_BODY
        using Span = decltype(values);
        visit_values(before, [&](auto previous) SPOTTER_STRICT {
            SPOTTER_STRICT_BODY
            if constexpr (std::is_same_v<Span, decltype(previous)>) {
                for (std::size_t i = 0; i < values.size(); ++i) {
                    seen_element const x = detail::see(values[i]);
                    seen_element const y = detail::see(previous[i]);
                    finite = finite && x.kind < number_class::pos_inf && y.kind < number_class::pos_inf;
                    double const difference = x.value - y.value;
                    std::size_t const lane = i % lane_count;
                    gap.lane[lane] += difference * difference;
                    dot.lane[lane] += x.value * y.value;
                    old.lane[lane] += y.square;
                    changed += difference != 0 ? 1 : 0;
                }
            }
        });
    });
    into.has_previous = finite;
    into.previous_index = previous_index;
    into.previous_sum_squares = old.fold();
    into.delta_sum_squares = gap.fold();
    into.dot = dot.fold();
    into.changed = changed;
}

}  // namespace spotter::inline SPOTTER_ABI
