// SPDX-License-Identifier: Apache-2.0
// Hook (L3): whether a run was healthy since a step: may this checkpoint replace the last good one?
#pragma once

#include <spotter/core/algebra.hpp>
#include <spotter/core/step.hpp>

namespace spotter::inline SPOTTER_ABI {

// One close of one hook. Closes are numbered in the order in which they come, so a finding still counts when the loop
// goes back to an earlier index.
struct run_moment {
    std::uint64_t hook = 0;   // id of the hook; 0: none
    std::uint64_t close = 0;  // counted from 1
};

class vitals {  // for each mode: since which step the run was healthy
public:
    vitals() noexcept;
    // Records the close of a step. A finding in one mode also counts against the current step of every other mode.
    void closed(step_id step, bool healthy) noexcept;
    // True if no warning or error, reported or thinned by an adaptor, held at that step or since, along the loop's
    // latest path. For a step that the loop has not reached again since it went back, the former findings count.
    [[nodiscard]] bool healthy_since(step_id step) const noexcept;
    // The moment of the last closed step's close. For any other step the next close, if the run was healthy since that
    // step; otherwise the last unhealthy close.
    [[nodiscard]] run_moment moment_of(step_id step) const noexcept;
    // The same for a moment; undecided if it belongs to another hook.
    [[nodiscard]] truth healthy_since(run_moment moment) const noexcept;

private:
    struct clock {
        bool began = false, was_ill = false, was_undone = false;
        std::uint64_t last = 0, ill = 0;  // the last step, and the last unhealthy one
        std::uint64_t undone = 0;         // the last unhealthy step that the loop went back over
        std::uint64_t close = 0;          // the number of the last step's close
    };
    // The loop goes back to `index`: later steps and their findings are undone.
    static void rewind(clock& it, std::uint64_t index) noexcept;

    clock modes_[mode_count]{};
    std::uint64_t number_;                // id of the hook in this process
    std::uint64_t closes_ = 0, ill_ = 0;  // number of closes, and the last unhealthy one
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/clock.hpp>

#include <bit>
#include <cstddef>

namespace spotter::inline SPOTTER_ABI {

// Address and creation time: unique within a process.
SPOTTER_BODY vitals::vitals() noexcept
    : number_{(std::bit_cast<std::uint64_t>(detail::steady_seconds()) ^ reinterpret_cast<std::uintptr_t>(this)) | 1U} {}

SPOTTER_BODY void vitals::closed(step_id step, bool healthy) noexcept {
    clock& mine = modes_[index_of(step.mode)];
    if (mine.began && step.index <= mine.last) { rewind(mine, step.index); }
    mine.began = true;
    mine.last = step.index;
    mine.close = ++closes_;
    if (healthy) { return; }
    ill_ = closes_;
    for (clock& each : modes_) {
        if (!each.began) { continue; }
        each.was_ill = true;
        each.ill = each.last;
    }
}

SPOTTER_BODY bool vitals::healthy_since(step_id step) const noexcept {
    clock const& mine = modes_[index_of(step.mode)];
    if (step.index > mine.last && mine.was_undone && mine.undone >= step.index) { return false; }
    return !mine.was_ill || mine.ill < step.index;
}

SPOTTER_BODY run_moment vitals::moment_of(step_id step) const noexcept {
    clock const& mine = modes_[index_of(step.mode)];
    if (mine.began && mine.last == step.index) { return {number_, mine.close}; }
    return {number_, step.index > mine.last || healthy_since(step) ? closes_ + 1 : ill_};
}

SPOTTER_BODY truth vitals::healthy_since(run_moment moment) const noexcept {
    if (moment.hook != number_) { return truth::undecided; }
    return ill_ < moment.close ? truth::yes : truth::no;
}

SPOTTER_BODY void vitals::rewind(clock& it, std::uint64_t index) noexcept {
    if (!it.was_ill || it.ill < index) { return; }
    if (!it.was_undone || it.undone < it.ill) { it.undone = it.ill; }
    it.was_undone = true;
    it.was_ill = index > 0;
    it.ill = index > 0 ? index - 1 : 0;
}

}  // namespace spotter::inline SPOTTER_ABI

#endif
