// SPDX-License-Identifier: Apache-2.0
// Stat (L1): the change of a tensor since its previous observation, against a retained copy.
#pragma once

#include <spotter/stat/change_kernel.hpp>
#include <spotter/stat/lanes.hpp>

namespace spotter::inline SPOTTER_ABI {

// Fills the delta fields of `into`. Where the type, shape or order changed, and where either side has a non-finite element, the
// delta stays undefined (has_previous false): a change from or to NaN has no size. Sums are lane sums over the whole tensor.
template <class = only_where_called>
constexpr void compare_with_previous(tensor_ref const& now, tensor_ref const& before, std::uint64_t previous_index,
                                     summary& into) noexcept {
    into.has |= terms::delta;
    into.has_previous = false;
    if (now.type != before.type || now.shape != before.shape || now.layout != before.layout) { return; }
    detail::change_sums sums;
    visit_values(now, [&]<class Value>(element_view<Value> values) {
        compare_all(values, detail::pointer_in<Value>(before.values), sums);
    });
    into.has_previous = sums.finite;
    into.previous_index = previous_index;
    into.previous_sum_squares = sums.old.fold();
    into.delta_sum_squares = sums.gap.fold();
    into.dot = sums.dot.fold();
    into.changed = sums.changed;
}

}  // namespace spotter::inline SPOTTER_ABI
