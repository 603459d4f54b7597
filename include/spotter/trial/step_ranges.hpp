// SPDX-License-Identifier: Apache-2.0
// Trial (L4): which steps were closed, as ranges of indices: what a state query looks at.
#pragma once

#include <spotter/core/step.hpp>

#include <iterator>
#include <map>

namespace spotter::inline SPOTTER_ABI {

// A loop that counts up is one range a mode, however long it runs; so a query does not grow with the number of steps.
class step_ranges {
public:
    void add(step_id step) {
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
        if (meets_next) { mine.erase(next); }
        mine.emplace(step.index, last);
    }
    [[nodiscard]] bool contains(step_id step) const noexcept {
        auto const& mine = ranges_[index_of(step.mode)];
        auto const next = mine.upper_bound(step.index);
        return next != mine.begin() && step.index <= std::prev(next)->second;
    }
    // A later index of the same mode.
    [[nodiscard]] bool any_after(step_id step) const noexcept {
        auto const& mine = ranges_[index_of(step.mode)];
        return !mine.empty() && std::prev(mine.end())->second > step.index;
    }

private:
    std::map<std::uint64_t, std::uint64_t> ranges_[mode_count]{};  // the first index of each to its last
};

}  // namespace spotter::inline SPOTTER_ABI
