// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): what a rule keeps of each tensor, and which tensors a step brought.
#pragma once

#include <spotter/core/event.hpp>
#include <spotter/core/slots.hpp>

#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// Grows when a tensor is declared, at no other time.
template <class Kept>
class per_tensor {
public:
    // May be called again for a tensor: what was kept stays. Null where memory is exhausted.
    constexpr Kept* declare(tensor_info const& tensor) noexcept {
        std::size_t const room = tensor.id + std::size_t{1};
        if (!list_.grow(room) || !order_.grow(room)) { return nullptr; }
        list_[tensor.id].name = tensor.name;
        return &list_[tensor.id].kept;
    }
    // The same tensor again, and that the step brought it. Null for one that was not declared.
    constexpr Kept* touch(tensor_id id) noexcept {
        if (!list_.holds(id)) { return nullptr; }
        if (!list_[id].touched && order_.holds(touched_)) {
            list_[id].touched = true;
            order_[touched_++] = id;
        }
        return &list_[id].kept;
    }
    // Calls `use(name, kept)` for each tensor of the step, in observation order, and begins the next step.
    template <class Use>
    constexpr void take_touched(Use&& use) noexcept {
        for (std::size_t i = 0; i < touched_; ++i) {
            entry& mine = list_[order_[i]];
            mine.touched = false;
            use(mine.name, mine.kept);
        }
        touched_ = 0;
    }

private:
    struct entry {
        Kept kept{};
        std::string_view name{};
        bool touched = false;
    };
    slots<entry> list_;       // by tensor id
    slots<tensor_id> order_;  // touched ones, in observation order
    std::size_t touched_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI
