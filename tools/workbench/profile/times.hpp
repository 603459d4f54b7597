// SPDX-License-Identifier: Apache-2.0
// Workbench, profile: readable times and durations.
#pragma once

#include <spotter/config.hpp>

#include <string>

namespace spotter::inline SPOTTER_ABI::detail {

// From seconds since 1970.
[[nodiscard]] std::string time_text(double seconds);
[[nodiscard]] std::string duration_text(double seconds);

}  // namespace spotter::inline SPOTTER_ABI::detail
