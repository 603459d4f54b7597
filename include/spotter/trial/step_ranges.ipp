// SPDX-License-Identifier: Apache-2.0
// The bodies of step_ranges.hpp.
#pragma once

#include <spotter/trial/step_ranges.hpp>

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
