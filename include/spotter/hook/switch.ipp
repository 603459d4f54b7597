// SPDX-License-Identifier: Apache-2.0
// The bodies of switch.hpp.
#pragma once

#include <spotter/hook/switch.hpp>

#include <cstdlib>
#include <ctime>
#include <string_view>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY switch_state read_switch() noexcept {
    char const* const text = std::getenv("SPOTTER");
    std::string_view const value = text == nullptr ? std::string_view{} : text;
    return value == "off"                   ? switch_state::off
           : value == "dry"                 ? switch_state::dry
           : value.empty() || value == "on" ? switch_state::on
                                            : switch_state::unknown;
}

SPOTTER_BODY double steady_seconds() noexcept {
    timespec now{};
    (void)::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace spotter::inline SPOTTER_ABI::detail
