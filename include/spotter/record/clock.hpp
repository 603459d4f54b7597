// SPDX-License-Identifier: Apache-2.0
// Record (L4): two clocks: the time of day for the record, and a steady clock for waiting.
#pragma once

#include <spotter/core/result.hpp>

#include <cstdint>

namespace spotter::inline SPOTTER_ABI {

[[nodiscard]] double seconds_since_epoch() noexcept;         // since 1970, by the system clock, which may jump
[[nodiscard]] std::uint64_t steady_milliseconds() noexcept;  // from an arbitrary zero; never decreases
// Converts a time of a clock to nanoseconds since 1970. `zero`: nanoseconds from 1970 to the clock's zero. `seconds`
// outside of +-4e9 count as 0.
[[nodiscard]] std::uint64_t nanoseconds_since(std::int64_t zero, double seconds) noexcept;
// Practically unique for each run; not secret.
[[nodiscard]] std::uint64_t make_run_id() noexcept;

// Detects jumps of the time of day against the steady clock, as when it is set or the machine slept. Used by the
// writer.
class day_clock_watch {
public:
    // `on`: false if the user gave the record a clock.
    explicit day_clock_watch(bool on) noexcept : on_{on} {}

    // Compares both clocks once a second; `now` in milliseconds of the steady clock.
    void look(std::uint64_t now) noexcept {
        if (on_ && now >= due_) { look_now(); }
    }
    // Compares two readings of the same moment with the previous ones.
    void compare(std::uint64_t now, double time_of_day) noexcept;
    [[nodiscard]] error const& trouble() const noexcept { return trouble_; }  // the first jump of more than a second

private:
    static constexpr double most = 1;  // in seconds

    void look_now() noexcept;

    error trouble_{};
    double apart_ = 0;  // difference of the clocks at the previous comparison
    std::uint64_t due_ = 0;
    bool on_, looked_ = false;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <chrono>
#include <cmath>
#include <utility>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY double seconds_since_epoch() noexcept {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

SPOTTER_BODY std::uint64_t steady_milliseconds() noexcept {
    auto const since = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
}

SPOTTER_BODY std::uint64_t nanoseconds_since(std::int64_t zero, double seconds) noexcept {
    bool const sane = seconds > -4e9 && seconds < 4e9;  // a user's clock may return anything
    // Separately: as nanoseconds in a double, times of 2026 would be rounded to 256.
    auto const whole = sane ? static_cast<std::int64_t>(seconds) : 0;
    double const rest = sane ? seconds - static_cast<double>(whole) : 0;
    std::int64_t const since = zero + whole * 1'000'000'000 + static_cast<std::int64_t>(rest * 1e9 + 0.5);
    return since > 0 ? static_cast<std::uint64_t>(since) : 0;
}

SPOTTER_BODY void day_clock_watch::look_now() noexcept {
    std::uint64_t const before = steady_milliseconds();
    double const time_of_day = seconds_since_epoch();
    std::uint64_t const after = steady_milliseconds();
    due_ = after + 1000;
    // The thread may have been suspended between the readings.
    if (after - before < 100) { compare(before, time_of_day); }
}

SPOTTER_BODY void day_clock_watch::compare(std::uint64_t now, double time_of_day) noexcept {
    double const apart = time_of_day - 1e-3 * static_cast<double>(now);
    double const jumped = apart - std::exchange(apart_, apart);
    if (!std::exchange(looked_, true) || trouble_ || !(std::fabs(jumped) > most)) { return; }
    trouble_.code = errc::bad_config;
    trouble_.what
        << "the time of day jumped by " << jumped
        << " s while the run was written: times in the record from there on are off by that; those of steps are not";
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

#endif
