// SPDX-License-Identifier: Apache-2.0
// Format (L1): bitwise differences of values, and back: exact for any bits, NaN included.
#pragma once

#include <spotter/config.hpp>

#include <cstddef>

namespace spotter::inline SPOTTER_ABI {

// into[i] = a[i] ^ b[i] for `count` bytes; `into` may be `a` or `b`.
void exclusive_or(std::byte const* a, std::byte const* b, std::byte* into, std::size_t count) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/format/bytes.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY SPOTTER_NOINLINE void exclusive_or(std::byte const* a, std::byte const* b, std::byte* into,
                                                std::size_t count) noexcept {
    std::size_t i = 0;
    for (; i + 32 <= count; i += 32) {
        std::uint64_t left[4], right[4];
        std::memcpy(left, a + i, sizeof left);
        std::memcpy(right, b + i, sizeof right);
        SPOTTER_UNROLL
        for (std::size_t k = 0; k < 4; ++k) { left[k] ^= right[k]; }
        std::memcpy(into + i, left, sizeof left);
    }
    for (; i < count; ++i) { into[i] = a[i] ^ b[i]; }
}

}  // namespace spotter::inline SPOTTER_ABI

#endif
