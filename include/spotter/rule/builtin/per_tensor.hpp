// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): a rule's state for each tensor, and the tensors of a step.
#pragma once

#include <spotter/core/event.hpp>
#include <spotter/core/slots.hpp>

#include <span>
#include <string_view>
#include <utility>

namespace spotter::inline SPOTTER_ABI {

// Indexed by tensor id. Grows only when a tensor is declared.
template <class Kept>
class per_tensor {
public:
    // May be called again for a tensor; its state stays. Null where memory is exhausted.
    [[nodiscard]] constexpr Kept* declare(tensor_info const& tensor) noexcept {
        std::size_t const room = tensor.id + std::size_t{1};
        if (!list_.grow(room) || !order_.grow(room)) { return nullptr; }
        list_[tensor.id].name = tensor.name;
        return &list_[tensor.id].kept;
    }
    // Null for a tensor that was not declared.
    [[nodiscard]] constexpr Kept* find(tensor_id id) noexcept { return list_.holds(id) ? &list_[id].kept : nullptr; }
    [[nodiscard]] constexpr Kept const* find(tensor_id id) const noexcept {
        return list_.holds(id) ? &list_[id].kept : nullptr;
    }
    [[nodiscard]] constexpr Kept& operator[](tensor_id id) noexcept { return list_[id].kept; }
    [[nodiscard]] constexpr Kept const& operator[](tensor_id id) const noexcept { return list_[id].kept; }
    // Requires a declared tensor.
    [[nodiscard]] constexpr std::string_view name_of(tensor_id id) const noexcept { return list_[id].name; }
    // Calls `use(kept)` for each id, declared or not.
    template <class Use>
    constexpr void each(Use&& use) noexcept {
        for (entry& it : list_) { use(it.kept); }
    }
    // Calls `use(name, kept)` for each id, declared or not.
    template <class Use>
    constexpr void each_named(Use&& use) const noexcept {
        for (entry const& it : list_) { use(it.name, it.kept); }
    }
    template <class Use>
    constexpr void each_named(Use&& use) noexcept {
        for (entry& it : list_) { use(it.name, it.kept); }
    }

    // Marks the tensor as observed in this step. True the first time since the last clear().
    constexpr bool touch(tensor_id id) noexcept {
        if (!list_.holds(id) || std::exchange(list_[id].touched, true)) { return false; }
        order_[touched_++] = id;
        return true;
    }
    // Marks the tensor and returns its state; null if it was not declared.
    [[nodiscard]] constexpr Kept* reach(tensor_id id) noexcept {
        touch(id);
        return find(id);
    }
    // The tensors of this step, each once, in observation order.
    [[nodiscard]] constexpr std::span<tensor_id const> touched() const noexcept { return {order_.data(), touched_}; }
    constexpr void clear() noexcept {
        for (tensor_id const id : touched()) { list_[id].touched = false; }
        touched_ = 0;
    }
    // Calls `use(name, kept)` for each tensor of the step, and begins the next one.
    template <class Use>
    constexpr void take_touched(Use&& use) noexcept {
        for (tensor_id const id : touched()) { use(list_[id].name, list_[id].kept); }
        clear();
    }

private:
    struct entry {
        Kept kept{};
        std::string_view name{};
        bool touched = false;
    };
    slot_array<entry> list_;       // by tensor id
    slot_array<tensor_id> order_;  // touched ones
    std::size_t touched_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI
