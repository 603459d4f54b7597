// SPDX-License-Identifier: Apache-2.0
// Hook (L3): whether all was well since a step: may this checkpoint replace the last good one?
#pragma once

#include <spotter/core/step.hpp>

namespace spotter::inline SPOTTER_ABI {

class vitals {  // since which step nothing was wrong, by mode
public:
    // A step was closed. What was found in one mode counts against the others' steps of that moment as well.
    void closed(step_id step, bool healthy) noexcept;
    [[nodiscard]] bool healthy_since(step_id step) const noexcept;  // nothing was found at that step or behind it

private:
    struct clock {
        bool began = false, was_ill = false;
        std::uint64_t last = 0, ill = 0;  // the last step, and the last one at which something was wrong
    };
    // Steps from `index` on are undone, and what was wrong with them.
    static void rewind(clock& it, std::uint64_t index) noexcept;

    clock modes_[mode_count]{};
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/hook/vitals.ipp>
#endif
