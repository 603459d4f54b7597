// SPDX-License-Identifier: Apache-2.0
// Workbench, profile: moments and durations as people read them.
#pragma once

#include <spotter/config.hpp>

#include <string>

namespace spotter::inline SPOTTER_ABI::detail {

// Of seconds since 1970.
[[nodiscard]] std::string time_text(double seconds);
[[nodiscard]] std::string duration_text(double seconds);

}  // namespace spotter::inline SPOTTER_ABI::detail
