// SPDX-License-Identifier: Apache-2.0
// Hook (L3): whether all was well since a step: may this checkpoint replace the last good one?
#pragma once

#include <spotter/core/step.hpp>

#include <cstddef>

namespace spotter::inline SPOTTER_ABI {

class vitals {
public:
    // A step was closed. What was found in one mode counts against the others' steps of that moment as well.
    void closed(step_id step, bool healthy) noexcept {
        clock& mine = modes_[index_of(step.mode)];
        if (mine.began && step.index <= mine.last) { rewind(mine, step.index); }
        mine.began = true;
        mine.last = step.index;
        if (healthy) { return; }
        for (clock& each : modes_) {
            if (!each.began) { continue; }
            each.was_ill = true;
            each.ill = each.last;
        }
    }
    [[nodiscard]] bool healthy_since(step_id step) const noexcept {
        clock const& mine = modes_[index_of(step.mode)];
        return !mine.was_ill || mine.ill < step.index;
    }

private:
    struct clock {
        bool began = false, was_ill = false;
        std::uint64_t last = 0, ill = 0;  // the last step, and the last one at which something was wrong
    };
    // Steps from `index` on are undone, and what was wrong with them.
    static void rewind(clock& it, std::uint64_t index) noexcept {
        if (!it.was_ill || it.ill < index) { return; }
        it.was_ill = index > 0;
        it.ill = index > 0 ? index - 1 : 0;
    }

    clock modes_[mode_count]{};
};

}  // namespace spotter::inline SPOTTER_ABI
