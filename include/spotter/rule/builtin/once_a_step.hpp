// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): the first observation of a tensor in a step, for rules that count steps.
#pragma once

#include <spotter/core/fwd.hpp>

#include <utility>

namespace spotter::inline SPOTTER_ABI {

// Kept of a tensor: whether it is the first sight of it in the step with the number `now`, from 1 on.
struct once_a_step {
    std::uint64_t now = 1, last = 0;  // the step at hand; the last one in which it was seen
    constexpr bool first() noexcept { return std::exchange(last, now) != now; }  // true once in a step
    constexpr bool first(std::uint64_t step) noexcept {
        now = step;
        return first();
    }
};

}  // namespace spotter::inline SPOTTER_ABI
