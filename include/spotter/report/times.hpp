// SPDX-License-Identifier: Apache-2.0
// Report (L5): moments and durations as people read them.
#pragma once

#include <spotter/config.hpp>

#include <fmt/format.h>

#include <string>

namespace spotter::inline SPOTTER_ABI::detail {

// Of seconds since 1970.
[[nodiscard]] std::string time_text(double seconds);
[[nodiscard]] std::string duration_text(double seconds);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/report/times.ipp>
#endif
