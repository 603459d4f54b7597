// SPDX-License-Identifier: Apache-2.0
// File (L1): when a wait for somebody else is over.
#pragma once

#include <spotter/config.hpp>

#include <algorithm>
#include <chrono>

namespace spotter::inline SPOTTER_ABI::detail {

// The time at which `patience` from now is over, at once where it is negative. At most a century ahead: `max()` of a
// duration means for ever, and would overflow where it is converted or added.
template <class Rep, class Period>
[[nodiscard]] std::chrono::steady_clock::time_point deadline_in(std::chrono::duration<Rep, Period> patience) noexcept {
    using clock = std::chrono::steady_clock;
    using seconds = std::chrono::duration<double>;
    seconds const taken = (std::min)((std::max)(seconds{0}, seconds{patience}), seconds{3.2e9});
    return clock::now() + std::chrono::duration_cast<clock::duration>(taken);
}

}  // namespace spotter::inline SPOTTER_ABI::detail
