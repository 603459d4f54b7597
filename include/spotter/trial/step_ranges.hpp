// SPDX-License-Identifier: Apache-2.0
// Trial (L4): the closed steps as ranges of indices, for state queries.
#pragma once

#include <spotter/core/step.hpp>

#include <map>

namespace spotter::inline SPOTTER_ABI {

// A loop that counts up is one range for each mode, so the cost of a query does not grow with the number of steps.
class step_ranges {
public:
    // A search among the ranges of its mode.
    void add(step_id step);
    // Whether the step was added.
    [[nodiscard]] bool contains(step_id step) const noexcept;
    // Whether a later index of the same mode was added.
    [[nodiscard]] bool any_after(step_id step) const noexcept;

private:
    std::map<std::uint64_t, std::uint64_t> ranges_[mode_count]{};  // from the first index of each range to its last
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/trial/step_ranges.ipp>
#endif
