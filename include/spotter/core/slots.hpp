// SPDX-License-Identifier: Apache-2.0
// Core (L0): the growing array behind rule state: indexed by dense ids, constexpr, never throws.
#pragma once

#include <spotter/core/fwd.hpp>

#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace spotter::inline SPOTTER_ABI {

// Only `grow` allocates; where memory is exhausted it returns false and the array is unchanged. Owns its values;
// movable, with explicit copies. Not thread-safe.
template <class Value>
class slot_array {
public:
    constexpr slot_array() noexcept = default;
    constexpr slot_array(slot_array&& other) noexcept
        : values_{std::exchange(other.values_, nullptr)}, size_{std::exchange(other.size_, 0)} {}
    constexpr slot_array(slot_array const& other) noexcept {
        if (grow(other.size_)) {
            for (std::size_t i = 0; i < size_; ++i) { values_[i] = other.values_[i]; }
        }
    }
    constexpr slot_array& operator=(slot_array other) noexcept {
        std::swap(values_, other.values_);
        std::swap(size_, other.size_);
        return *this;
    }
    constexpr ~slot_array() { delete[] values_; }

    // Makes room for at least `count` values; new ones are value-initialized. Doubles: adding an id is amortized O(1).
    [[nodiscard]] constexpr bool grow(std::size_t count) noexcept { return count <= size_ || enlarge(count); }

    [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
    // Whether there is a value of that index.
    [[nodiscard]] constexpr bool holds(std::size_t index) const noexcept { return index < size_; }
    [[nodiscard]] constexpr Value& operator[](std::size_t index) noexcept { return values_[index]; }
    [[nodiscard]] constexpr Value const& operator[](std::size_t index) const noexcept { return values_[index]; }
    [[nodiscard]] constexpr Value* data() noexcept { return values_; }
    [[nodiscard]] constexpr Value const* data() const noexcept { return values_; }
    [[nodiscard]] constexpr Value* begin() noexcept { return values_; }
    [[nodiscard]] constexpr Value* end() noexcept { return values_ + size_; }
    [[nodiscard]] constexpr Value const* begin() const noexcept { return values_; }
    [[nodiscard]] constexpr Value const* end() const noexcept { return values_ + size_; }

private:
    [[nodiscard]] SPOTTER_COLD constexpr bool enlarge(std::size_t count) noexcept {
        std::size_t const wanted = count > 2 * size_ ? count : 2 * size_;
        Value* const larger = make(wanted);
        if (larger == nullptr) { return false; }
        for (std::size_t i = 0; i < size_; ++i) { larger[i] = std::move(values_[i]); }
        delete[] values_;
        values_ = larger;
        size_ = wanted;
        return true;
    }
    [[nodiscard]] static constexpr Value* make(std::size_t count) noexcept {
        if (std::is_constant_evaluated()) { return new Value[count]{}; }
        // For such a size g++ throws despite std::nothrow.
        if (count > PTRDIFF_MAX / sizeof(Value)) { return nullptr; }
        return new (std::nothrow) Value[count]{};
    }

    Value* values_ = nullptr;
    std::size_t size_ = 0;
};

#if !defined(slots)  // Qt's macro
template <class Value>
using slots = slot_array<Value>;  // its name until 0.1
#endif

}  // namespace spotter::inline SPOTTER_ABI
