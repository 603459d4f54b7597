// SPDX-License-Identifier: Apache-2.0
// Record (L4): the two clocks: time of day for the record, a steady one for waiting.
#pragma once

#include <spotter/core/result.hpp>

#include <cstdint>

namespace spotter::inline SPOTTER_ABI {

[[nodiscard]] double seconds_since_epoch() noexcept;         // since 1970, by the time of day, which may jump
[[nodiscard]] std::uint64_t steady_milliseconds() noexcept;  // since some moment; does not go back
// Seconds from a zero of a clock's own that is `zero` nanoseconds behind 1970: nanoseconds since then. What no clock
// says is 0 seconds.
[[nodiscard]] std::uint64_t nanoseconds_since(std::int64_t zero, double seconds) noexcept;
// Differs between runs as good as always: not secret, only distinct.
[[nodiscard]] std::uint64_t make_run_id() noexcept;

// Sees the time of day jump against the steady clock, as when somebody sets it or the machine slept. For who writes.
class day_clock_watch {
public:
    // Off where the record has a clock of its own.
    explicit day_clock_watch(bool on) noexcept : on_{on} {}

    // Costs a look at both clocks once a second; `now` of the steady one, in milliseconds.
    void look(std::uint64_t now) noexcept {
        if (on_ && now >= due_) { look_now(); }
    }
    // The two at one moment: a first time, and again later.
    void compare(std::uint64_t now, double time_of_day) noexcept;
    [[nodiscard]] error const& trouble() const noexcept { return trouble_; }  // the first jump of more than a second

private:
    static constexpr double most = 1;  // second

    void look_now() noexcept;

    error trouble_{};
    double apart_ = 0;  // the clocks were, at the look before
    std::uint64_t due_ = 0;
    bool on_, looked_ = false;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/clock.ipp>
#endif
