// SPDX-License-Identifier: Apache-2.0
// Record (L4): detects that a loop stays in one section for long; used by the writer.
#pragma once

#include <spotter/core/loop_marks.hpp>

namespace spotter::inline SPOTTER_ABI {

// Checks at most ten times a second: each check takes a cache line from the loop.
class stay_watch {
public:
    // If a report is due (after 2 s, 20 s, 200 s, …): how many milliseconds the loop has been in `section`; otherwise
    // 0. `now` in milliseconds of a steady clock.
    [[nodiscard]] std::uint64_t look(loop_marks const& at, std::uint64_t now, std::string_view& section) noexcept {
        if (now < next_look_) { return 0; }
        next_look_ = now + milliseconds_between;
        std::uint64_t const state = at.state();
        if (state != state_) {
            state_ = state, since_ = now, tell_after_ = first_milliseconds;
            return 0;
        }
        section = at.section(state);
        if (section.empty() || now - since_ < tell_after_) { return 0; }
        tell_after_ *= 10;
        return now - since_;
    }

private:
    static constexpr std::uint64_t milliseconds_between = 100, first_milliseconds = 2000;

    std::uint64_t state_ = 0, since_ = 0, next_look_ = 0, tell_after_ = first_milliseconds;
};

}  // namespace spotter::inline SPOTTER_ABI
