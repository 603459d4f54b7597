// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): the tensors of a step, for rules that judge them together when it closes.
#pragma once

#include <spotter/rule/machine.hpp>

namespace spotter::inline SPOTTER_ABI {

// Which tensors were touched since the last close: each once, in observation order.
class touched_tensors {
public:
    [[nodiscard]] constexpr bool declare(tensor_info const& tensor) noexcept {
        std::size_t const room = tensor.id + std::size_t{1};
        if (!names_.grow(room) || !order_.grow(room) || !marked_.grow(room)) { return false; }
        names_[tensor.id] = tensor.name;
        return true;
    }
    // Whether it is the first time since the last close.
    constexpr bool touch(tensor_id id) noexcept {
        if (!marked_.holds(id) || std::exchange(marked_[id], true)) { return false; }
        order_[count_++] = id;
        return true;
    }
    constexpr void clear() noexcept {
        for (std::size_t i = 0; i < count_; ++i) { marked_[order_[i]] = false; }
        count_ = 0;
    }
    [[nodiscard]] constexpr std::span<tensor_id const> all() const noexcept { return {order_.data(), count_}; }
    [[nodiscard]] constexpr std::string_view name_of(tensor_id id) const noexcept { return names_[id]; }

private:
    slots<std::string_view> names_;  // by tensor id
    slots<bool> marked_;             // by tensor id
    slots<tensor_id> order_;
    std::size_t count_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI
