// SPDX-License-Identifier: Apache-2.0
// Stat (L1): the pass of summarize.hpp for hooks and replays: with spotter::compiled it is compiled once.
#pragma once

#include <spotter/core/tensor_ref.hpp>
#include <spotter/stat/summary.hpp>

namespace spotter::inline SPOTTER_ABI {

// Like summarize(tensor, wanted), but not constexpr.
SPOTTER_WHERE_CALLED [[nodiscard]] summary take_summary(tensor_ref const& tensor, stats_mask wanted) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/stat/summarize.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_WHERE_CALLED_BODY summary take_summary(tensor_ref const& tensor, stats_mask wanted) noexcept {
    return summarize(tensor, wanted);
}

}  // namespace spotter::inline SPOTTER_ABI

#endif
