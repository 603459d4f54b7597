// SPDX-License-Identifier: Apache-2.0
// Hook (L3): whether all was well since a step: may this checkpoint replace the last good one?
#pragma once

#include <spotter/core/step.hpp>
#include <spotter/core/truth.hpp>

namespace spotter::inline SPOTTER_ABI {

// A close of one hook's. Closes are counted as they come, so what was found behind one stays found when the loop goes
// back to an earlier index.
struct run_moment {
    std::uint64_t hook = 0;   // which; 0: none
    std::uint64_t close = 0;  // from 1 on
};

class vitals {  // since which step nothing was wrong, by mode
public:
    vitals() noexcept;
    // A step was closed. What was found in one mode counts against the others' steps of that moment as well.
    void closed(step_id step, bool healthy) noexcept;
    // No warning or error held at that step or behind it, as the loop went on last, told or thinned by an adaptor; of a
    // step that it has not come to again what was found counts still.
    [[nodiscard]] bool healthy_since(step_id step) const noexcept;
    // That step's last close; of one that is closed next, or was asked for by another index, what comes.
    [[nodiscard]] run_moment moment_of(step_id step) const noexcept;
    // The same of a moment; undecided where it is another hook's.
    [[nodiscard]] truth healthy_since(run_moment moment) const noexcept;

private:
    struct clock {
        bool began = false, was_ill = false, was_undone = false;
        std::uint64_t last = 0, ill = 0;  // the last step, and the last one at which something was wrong
        std::uint64_t undone = 0;         // the last one of those that were gone back over
        std::uint64_t close = 0;          // which close the last step's was
    };
    // Steps from `index` on are undone, and what was wrong with them.
    static void rewind(clock& it, std::uint64_t index) noexcept;

    clock modes_[mode_count]{};
    std::uint64_t number_;                // of the hook, in this process
    std::uint64_t closes_ = 0, ill_ = 0;  // how many, and the last one at which something was wrong
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/hook/vitals.ipp>
#endif
