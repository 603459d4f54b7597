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
#include <spotter/record/clock.ipp>
#endif
