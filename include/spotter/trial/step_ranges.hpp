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
#include <iterator>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY void step_ranges::add(step_id step) {
    auto& mine = ranges_[index_of(step.mode)];
    auto const next = mine.upper_bound(step.index);
    bool const meets_next = next != mine.end() && next->first == step.index + 1;
    if (next != mine.begin()) {
        auto const before = std::prev(next);
        if (step.index <= before->second) { return; }
        if (step.index == before->second + 1) {
            before->second = meets_next ? next->second : step.index;
            if (meets_next) { mine.erase(next); }
            return;
        }
    }
    std::uint64_t const last = meets_next ? next->second : step.index;
    mine.emplace(step.index, last);  // first, because it may throw
    if (meets_next) { mine.erase(next); }
}

SPOTTER_BODY bool step_ranges::contains(step_id step) const noexcept {
    auto const& mine = ranges_[index_of(step.mode)];
    auto const next = mine.upper_bound(step.index);
    return next != mine.begin() && step.index <= std::prev(next)->second;
}

SPOTTER_BODY bool step_ranges::any_after(step_id step) const noexcept {
    auto const& mine = ranges_[index_of(step.mode)];
    return !mine.empty() && std::prev(mine.end())->second > step.index;
}

}  // namespace spotter::inline SPOTTER_ABI

#endif
