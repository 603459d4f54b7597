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
#include <spotter/format/difference.ipp>
#endif
