// SPDX-License-Identifier: Apache-2.0
// Core (L0): the machine's clocks, and a moment's rest.
#pragma once

#include <spotter/core/fwd.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Of a clock that nobody sets: for differences.
[[nodiscard]] double steady_seconds() noexcept;
// Since 1970, UTC; whoever sets the machine's clock sets it.
[[nodiscard]] double seconds_now() noexcept;
// Sleeps for about so long; less where a signal comes.
void nap(std::uint32_t microseconds) noexcept;

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/core/clock.ipp>
#endif
