// SPDX-License-Identifier: Apache-2.0
// Workbench, profile: the bodies of times.hpp.
#include "profile/times.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <ctime>

namespace spotter::inline SPOTTER_ABI::detail {

std::string time_text(double seconds) {
    auto const whole = static_cast<std::time_t>(seconds);
    std::tm parts{};
    char text[32] = "";
#if defined(_WIN32)
    bool const known = ::gmtime_s(&parts, &whole) == 0;
#else
    bool const known = ::gmtime_r(&whole, &parts) != nullptr;
#endif
    if (!known) { return "unknown"; }
    std::size_t const size = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
    return {text, size};
}

std::string duration_text(double seconds) {
    if (seconds < 1e-3) { return fmt::format("{:.3g} µs", seconds * 1e6); }
    if (seconds < 1) { return fmt::format("{:.3g} ms", seconds * 1e3); }
    if (seconds < 120) { return fmt::format("{:.1f} s", seconds); }
    if (seconds < 7200) { return fmt::format("{:.0f} min", seconds / 60); }
    return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace spotter::inline SPOTTER_ABI::detail
