// SPDX-License-Identifier: Apache-2.0
// The bodies of take_summary.hpp.
#pragma once

#include <spotter/stat/summarize.hpp>
#include <spotter/stat/take_summary.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_WHERE_CALLED_BODY summary take_summary(tensor_ref const& tensor, stats_mask wanted) noexcept {
    return summarize(tensor, wanted);
}

}  // namespace spotter::inline SPOTTER_ABI
