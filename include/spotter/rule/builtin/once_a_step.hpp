// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): the first observation of a tensor in a step, for rules that count steps.
#pragma once

#include <spotter/rule/machine.hpp>

namespace spotter::inline SPOTTER_ABI {

// Tells whether a tensor is observed for the first time since the last close.
class once_a_step {
public:
    [[nodiscard]] constexpr bool declare(tensor_info const& tensor) noexcept {
        return last_.grow(tensor.id + std::size_t{1});
    }
    [[nodiscard]] constexpr bool first(observation const& it) noexcept {
        return last_.holds(it.tensor.id) && std::exchange(last_[it.tensor.id], close_) != close_;
    }
    constexpr void next_close() noexcept { ++close_; }

private:
    slots<std::uint64_t> last_;  // by tensor id: the close in which it was seen
    std::uint64_t close_ = 1;
};

}  // namespace spotter::inline SPOTTER_ABI
