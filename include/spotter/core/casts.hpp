// SPDX-License-Identifier: Apache-2.0
// Core (L0): casts that are needed on some machines only; elsewhere -Wuseless-cast would warn about them (not in
// templates).
#pragma once

#include <spotter/config.hpp>

#include <cstddef>
#include <cstdint>

namespace spotter::inline SPOTTER_ABI {

// A static_cast whose types differ on some machines only.
template <class To, class From>
[[nodiscard]] constexpr To cast_to(From value) noexcept {
    return static_cast<To>(value);
}

// A 64-bit count or offset as std::size_t; the caller knows that it fits into memory.
[[nodiscard]] constexpr std::size_t as_size(std::uint64_t count) noexcept { return cast_to<std::size_t>(count); }

}  // namespace spotter::inline SPOTTER_ABI
