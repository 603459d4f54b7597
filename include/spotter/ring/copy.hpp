// SPDX-License-Identifier: Apache-2.0
// Ring (L1): copies of many bytes into a ring that is larger than the caches.
#pragma once

#include <spotter/ring/fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace spotter::inline SPOTTER_ABI::detail {

// As memcpy, but the destination's lines are neither read nor left in the caches: the loop keeps its own data there, and half of
// the memory traffic is saved. Everything is in memory, in order, when it returns.
inline void copy_streaming(std::byte* into, std::byte const* from, std::size_t bytes) noexcept {
#if defined(__GNUC__) && defined(__x86_64__)
    using word [[gnu::vector_size(16)]] = long long;
    std::size_t head = (16 - reinterpret_cast<std::uintptr_t>(into) % 16) % 16;
    if (head > bytes) { head = bytes; }
    std::memcpy(into, from, head);
    std::size_t at = head;
    for (; at + 64 <= bytes; at += 64) {
        word part[4];
        std::memcpy(part, from + at, sizeof part);
        auto* const line = reinterpret_cast<word*>(into + at);
        for (int i = 0; i < 4; ++i) {
#if defined(__clang__)
            __builtin_nontemporal_store(part[i], line + i);
#else
            __builtin_ia32_movntdq(line + i, part[i]);
#endif
        }
    }
    std::memcpy(into + at, from + at, bytes - at);
    __builtin_ia32_sfence();
#else
    std::memcpy(into, from, bytes);
#endif
}

}  // namespace spotter::inline SPOTTER_ABI::detail
