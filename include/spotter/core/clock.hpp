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
#if defined(_WIN32)
#include <chrono>
#include <thread>
#else
#include <time.h>  // costs nothing to include; <chrono> and <thread> do
#endif

namespace spotter::inline SPOTTER_ABI::detail {

#if defined(_WIN32)

SPOTTER_BODY double steady_seconds() noexcept {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

SPOTTER_BODY double seconds_now() noexcept {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

SPOTTER_BODY void nap(std::uint32_t microseconds) noexcept {
    std::this_thread::sleep_for(std::chrono::microseconds{microseconds});
}

#else

[[nodiscard]] SPOTTER_BODY double seconds_of(clockid_t clock) noexcept {
    timespec now{};
    (void)::clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

SPOTTER_BODY double steady_seconds() noexcept { return seconds_of(CLOCK_MONOTONIC); }

SPOTTER_BODY double seconds_now() noexcept { return seconds_of(CLOCK_REALTIME); }

SPOTTER_BODY void nap(std::uint32_t microseconds) noexcept {
    timespec time{};
    time.tv_sec = static_cast<time_t>(microseconds / 1'000'000);
    time.tv_nsec = static_cast<long>(microseconds % 1'000'000) * 1000;
    (void)::nanosleep(&time, nullptr);
}

#endif

}  // namespace spotter::inline SPOTTER_ABI::detail
#endif
