// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): how far a weight moved relative to its size.
#pragma once

#include <spotter/rule/machine.hpp>
#include <spotter/stat/statistic.hpp>

namespace spotter::inline SPOTTER_ABI {

// For a weight observed at steps r < s: ||W_s - W_r|| / (||W_r|| + epsilon), divided by s - r if `per_step`. Unknown
// without an earlier observation (after a rewind, for example), where either side has a non-finite element, and where
// W_r is all zero.
[[nodiscard]] SPOTTER_STRICT constexpr measurement update_ratio_of(observation const& it, double epsilon = 1e-9,
                                                                   bool per_step = true) noexcept {
    SPOTTER_STRICT_BODY
    summary const& now = it.stats;
    if (!has(now.has, stats_mask::change) || !now.has_previous || it.step.index <= now.previous_index) { return {}; }
    if (!(now.previous_sum_squares > 0) || !is_finite(now.previous_sum_squares) || !is_finite(now.delta_sum_squares)) {
        return {};
    }
    double const change = square_root(now.delta_sum_squares) / (square_root(now.previous_sum_squares) + epsilon);
    return {per_step ? change / static_cast<double>(it.step.index - now.previous_index) : change, true};
}

}  // namespace spotter::inline SPOTTER_ABI
