// SPDX-License-Identifier: Apache-2.0
// Record (L4): the loop's current section, for the writer, and for a reader of a killed process's ring.
#pragma once

#include <spotter/hook/sections.hpp>
#include <spotter/record/stay_watch.hpp>

namespace spotter::inline SPOTTER_ABI {

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
