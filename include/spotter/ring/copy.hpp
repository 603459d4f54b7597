// SPDX-License-Identifier: Apache-2.0
// Ring (L1): copies of values into a ring, through the caches or past them.
#pragma once

#include <spotter/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace spotter::inline SPOTTER_ABI::detail {

// Copies of some hundred bytes and more. memcpy of a C library may hand such sizes to the processor's string instructions, which take
// twice as long where the two sides lie differently within a line of the cache, as entries of a ring do; these loops do not.
#if defined(__GNUC__)
using copy_word [[gnu::vector_size(16)]] = long long;

// Copies up to a multiple of 16 of `into`, then calls put(word*, word) for four words at a time, then copies the rest.
template <class Put>
inline void copy_lines(std::byte* into, std::byte const* from, std::size_t bytes, Put put) noexcept {
    std::size_t at = (16 - reinterpret_cast<std::uintptr_t>(into) % 16) % 16;
    at = at < bytes ? at : bytes;
    std::memcpy(into, from, at);
    for (; at + 64 <= bytes; at += 64) {
        copy_word part[4];
        std::memcpy(part, from + at, sizeof part);
        auto* const line = reinterpret_cast<copy_word*>(into + at);
        for (int i = 0; i < 4; ++i) { put(line + i, part[i]); }
    }
    std::memcpy(into + at, from + at, bytes - at);
}
#endif

// As memcpy.
inline void copy_cached(std::byte* into, std::byte const* from, std::size_t bytes) noexcept {
#if defined(__GNUC__)
    copy_lines(into, from, bytes, [](copy_word* to, copy_word value) {
        *to = value;
        __asm__ volatile("" ::: "memory");  // or the compiler sees a memcpy
    });
#else
    std::memcpy(into, from, bytes);
#endif
}

// Whether the two ways to copy differ here.
#if defined(__GNUC__) && defined(__x86_64__)
inline constexpr bool can_stream = true;
#else
inline constexpr bool can_stream = false;
#endif

// As memcpy, but the destination's lines are neither read nor left in the caches: the loop keeps its own data there, and half of
// the memory traffic is saved. Everything is in memory, in order, when it returns.
inline void copy_streaming(std::byte* into, std::byte const* from, std::size_t bytes) noexcept {
#if defined(__GNUC__) && defined(__x86_64__)
    copy_lines(into, from, bytes, [](copy_word* to, copy_word value) {
#if defined(__clang__)
        __builtin_nontemporal_store(value, to);
#else
        __builtin_ia32_movntdq(to, value);
#endif
    });
    __builtin_ia32_sfence();
#else
    copy_cached(into, from, bytes);
#endif
}

// Takes lines out of the caches, as those of a large ring are when they are written to.
inline void leave_caches([[maybe_unused]] std::byte const* from, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(__GNUC__) && defined(__x86_64__)
    for (std::size_t at = 0; at < bytes; at += 64) { __builtin_ia32_clflush(from + at); }
    __builtin_ia32_mfence();
#endif
}

}  // namespace spotter::inline SPOTTER_ABI::detail
