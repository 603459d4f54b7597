// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): the first observation of a tensor in a step, for rules that count steps.
#pragma once

#include <spotter/core/fwd.hpp>

#include <utility>

namespace spotter::inline SPOTTER_ABI {

// State for one tensor: whether this is its first observation in the step `now`. Steps are numbered from 1.
struct once_a_step {
    std::uint64_t now = 1, last = 0;  // the current step; the last one in which it was observed
    constexpr bool first() noexcept { return std::exchange(last, now) != now; }  // true once in a step
    constexpr bool first(std::uint64_t step) noexcept {
        now = step;
        return first();
    }
};

}  // namespace spotter::inline SPOTTER_ABI
