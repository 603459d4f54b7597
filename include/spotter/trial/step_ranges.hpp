// SPDX-License-Identifier: Apache-2.0
// Trial (L4): which steps were closed, as ranges of indices: what a state query looks at.
#pragma once

#include <spotter/core/step.hpp>

#include <map>

namespace spotter::inline SPOTTER_ABI {

// A loop that counts up is one range a mode, however long it runs; so a query does not grow with the number of steps.
class step_ranges {
public:
    // Costs a search among the ranges of its mode.
    void add(step_id step);
    // It was added.
    [[nodiscard]] bool contains(step_id step) const noexcept;
    // A later index of the same mode.
    [[nodiscard]] bool any_after(step_id step) const noexcept;

private:
    std::map<std::uint64_t, std::uint64_t> ranges_[mode_count]{};  // the first index of each to its last
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/trial/step_ranges.ipp>
#endif
