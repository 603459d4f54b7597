// SPDX-License-Identifier: Apache-2.0
// The bodies of clock.hpp.
#pragma once

#include <spotter/record/clock.hpp>

#include <chrono>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY double seconds_since_epoch() noexcept {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

SPOTTER_BODY std::uint64_t steady_milliseconds() noexcept {
    auto const since = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
}

SPOTTER_BODY std::uint64_t make_run_id() noexcept {
    std::uint64_t seed[3] = {static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count()),
                             static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()),
                             0};
    seed[2] = reinterpret_cast<std::uintptr_t>(&seed);
    std::uint64_t mixed = 0;
    for (std::uint64_t each : seed) {
        mixed = (mixed ^ each) * 0x9E3779B97F4A7C15ULL;
        mixed ^= mixed >> 31;
    }
    return mixed;
}

}  // namespace spotter::inline SPOTTER_ABI
