// SPDX-License-Identifier: Apache-2.0
// Command line: a time limit from an option in seconds.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>

namespace spotter_tool {

// Rounded up, because 0 means no limit. Seconds without end (`inf`, 1e300) are a century.
[[nodiscard]] inline std::chrono::milliseconds patience_of(double seconds) {
    return std::chrono::milliseconds{static_cast<std::int64_t>(std::ceil((std::min)(seconds, 3.2e9) * 1000))};
}

}  // namespace spotter_tool
