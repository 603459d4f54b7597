// SPDX-License-Identifier: Apache-2.0
// Record (L4): the loop's current section, for the writer, and for a reader of a killed process's ring.
#pragma once

#include <spotter/core/loop_marks.hpp>
#include <spotter/hook/sections.hpp>

namespace spotter::inline SPOTTER_ABI {

// Detects that a loop stays in one section for long; used by the writer. Checks at most ten times a second: each check
// takes a cache line from the loop.
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

// The loop enters and leaves sections through `watcher`. The marks are in own memory, or in a ring that outlives the
// process.
class loop_place {
public:
    loop_place() noexcept = default;
    loop_place(loop_place const&) = delete;
    loop_place& operator=(loop_place const&) = delete;

    // The loop reports its sections to it.
    [[nodiscard]] section_watcher const* watcher() const noexcept { return &watcher_; }
    // From now on the marks are in `elsewhere`.
    void stand_in(loop_marks& elsewhere) noexcept { watcher_.marks = &elsewhere; }
    void stand_here() noexcept { watcher_.marks = &own_; }  // `elsewhere` is about to be freed

    // For the writer: the result of stay_watch::look.
    [[nodiscard]] std::uint64_t look(std::uint64_t now, std::string_view& section) noexcept {
        return stay_.look(*static_cast<loop_marks const*>(watcher_.marks), now, section);
    }

private:
    static void meet(void* marks, std::size_t section, std::string_view name) noexcept {
        static_cast<loop_marks*>(marks)->meet(section, name);
    }
    static void enter(void* marks, std::size_t section) noexcept {
        auto& here = *static_cast<loop_marks*>(marks);
        section == ~std::size_t{0} ? here.leave() : here.enter(section);
    }

    loop_marks own_{};
    section_watcher watcher_{&own_, &loop_place::meet, &loop_place::enter};
    stay_watch stay_{};
};

}  // namespace spotter::inline SPOTTER_ABI
