// SPDX-License-Identifier: Apache-2.0
// Core (L0): the machine's clocks, and a short sleep.
#pragma once

#include <spotter/core/fwd.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Seconds of a monotonic clock, for differences.
[[nodiscard]] double steady_seconds() noexcept;
// Seconds since 1970, UTC, by the system clock, which may be set.
[[nodiscard]] double seconds_now() noexcept;
// Sleeps for about that long; a signal may end it earlier.
void nap(std::uint32_t microseconds) noexcept;

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/core/clock.ipp>
#endif
