// SPDX-License-Identifier: Apache-2.0
// Stat (L1): the change of a tensor since its previous observation, from a kept copy.
#pragma once

#include <spotter/stat/change_kernel.hpp>
#include <spotter/stat/lanes.hpp>

namespace spotter::inline SPOTTER_ABI {

// Fills the change fields of `into`. Returns false, with has_previous false, if type, shape or order changed. If either
// side has a non-finite element, has_previous is false, too: the size of such a change is undefined. `replace`: null,
// or the memory of `before`, to which the values of `now` are copied. Sums are lane sums over the whole tensor.
template <class = only_where_called>
constexpr bool compare_with_previous(tensor_ref const& now, tensor_ref const& before, std::uint64_t previous_index,
                                     summary& into, unsigned char* replace = nullptr) noexcept {
    into.has |= stats_mask::change;
    into.has_previous = false;
    if (now.type != before.type || now.shape != before.shape || now.layout != before.layout) { return false; }
    detail::change_sums sums;
    if (now.refused == refusal::none) { compare_all(now, before, sums, replace); }
    into.has_previous = sums.finite;
    into.previous_index = previous_index;
    into.previous_sum_squares = sums.old.fold();
    into.delta_sum_squares = sums.gap.fold();
    into.dot = sums.dot.fold();
    into.changed = sums.changed;
    return true;
}

}  // namespace spotter::inline SPOTTER_ABI
