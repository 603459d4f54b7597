// SPDX-License-Identifier: Apache-2.0
// Export (L5): reads a run repeatedly while it is being written, until it ends.
#pragma once

#include <spotter/trial/trial.hpp>

namespace spotter::inline SPOTTER_ABI {

// Calls take() after each refresh, and wait() between two. If wait() returns false, what was written until then is
// still taken, and the function ends. It also ends with the run, or at the first error of a refresh or of `take`.
template <class Take, class Wait>
[[nodiscard]] error follow_run(trial& run, Take&& take, Wait&& wait) {
    for (bool goes_on = true;;) {
        if (error const why = run.refresh()) { return why; }
        if (error const why = take()) { return why; }
        if (!goes_on || run.over()) { return {}; }
        goes_on = wait();
    }
}

}  // namespace spotter::inline SPOTTER_ABI
