// SPDX-License-Identifier: Apache-2.0
// Export (L5): a run that is still being written, taken in again and again until it is over.
#pragma once

#include <spotter/trial/trial.hpp>

namespace spotter::inline SPOTTER_ABI {

// Calls take() after each refresh, with what the run holds then; between two, wait(), which ends it by returning false:
// what was written until then is still taken in. Ends with the run, or with the first error of a refresh or of `take`.
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
