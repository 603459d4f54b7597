// SPDX-License-Identifier: Apache-2.0
// Ring (L1): copies values into a ring, through the caches or past them.
#pragma once

#include <spotter/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

// Whether this platform can copy past the caches.
#if defined(__GNUC__) && defined(__x86_64__) && SPOTTER_GNU_VECTORS
#define SPOTTER_CAN_STREAM 1
#else
#define SPOTTER_CAN_STREAM 0
#endif

namespace spotter::inline SPOTTER_ABI::detail {

// Copies of some hundred bytes and more. For such sizes memcpy may use the processor's string instructions, which take
// twice as long if the two sides have different offsets within a cache line, as ring entries do; these loops do not.
// They write a whole line at a time. With AVX-512 that is one store, and the processor need not read the line first
// (Sapphire Rapids: with stores of 16 or 32 bytes a ring outside of the caches takes 1.5 times as long).
#if defined(__GNUC__) && SPOTTER_GNU_VECTORS
inline constexpr std::size_t copied_line = 64;

template <std::size_t Bytes>
struct copy_word {
    typedef long long type __attribute__((vector_size(Bytes)));
};

// Copies one line to an aligned destination; past the caches if `Past`.
template <std::size_t Bytes, bool Past>
SPOTTER_INLINE void copy_line(std::byte* into, std::byte const* from) noexcept {
    using word = typename copy_word<Bytes>::type;
    word part[copied_line / Bytes];
    std::memcpy(part, from, sizeof part);
    auto* to = reinterpret_cast<word*>(into);
    for (word const& each : part) {
#if SPOTTER_CAN_STREAM && defined(__clang__)
        if constexpr (Past) { __builtin_nontemporal_store(each, to++); }
#elif SPOTTER_CAN_STREAM
        if constexpr (Past && Bytes == 64) {
            asm volatile("vmovntdq %1, %0" : "=m"(*to++) : "v"(each));
        } else if constexpr (Past) {
            asm volatile("movntdq %1, %0" : "=m"(*to++) : "x"(each));
        }
#endif
        if constexpr (!Past) {
            *to++ = each;
            asm volatile("" ::: "memory");  // keeps the compiler from making it a memcpy
        }
    }
}

// Copies whole lines of `into`, and the parts before and behind them.
template <std::size_t Bytes, bool Past>
SPOTTER_INLINE void copy_lines(std::byte* into, std::byte const* from, std::size_t bytes) noexcept {
    std::size_t at = (copied_line - reinterpret_cast<std::uintptr_t>(into) % copied_line) % copied_line;
    if (bytes < at + copied_line) {
        std::memcpy(into, from, bytes);
        return;
    }
    // Past the caches, no line may be written in both ways: that would cost more than all other lines.
    std::memcpy(into, from, Past ? at : copied_line);
    for (; at + copied_line <= bytes; at += copied_line) { copy_line<Bytes, Past>(into + at, from + at); }
    if constexpr (Past) {
        std::memcpy(into + at, from + at, bytes - at);
    } else {
        std::memcpy(into + bytes - copied_line, from + bytes - copied_line, copied_line);
    }
}
#endif

#if SPOTTER_CAN_STREAM
template <bool Past>
SPOTTER_NOINLINE __attribute__((target("avx512f"))) inline void copy_avx512(std::byte* into, std::byte const* from,
                                                                            std::size_t bytes) noexcept {
    copy_lines<64, Past>(into, from, bytes);
}
#endif

// Like memcpy.
inline void copy_cached(std::byte* into, std::byte const* from, std::size_t bytes) noexcept {
#if SPOTTER_CAN_STREAM
    if (__builtin_cpu_supports("avx512f")) { return copy_avx512<false>(into, from, bytes); }
#endif
#if defined(__GNUC__) && SPOTTER_GNU_VECTORS
    copy_lines<16, false>(into, from, bytes);
#else
    std::memcpy(into, from, bytes);
#endif
}

inline constexpr bool can_stream = SPOTTER_CAN_STREAM != 0;

// Like memcpy, but the destination's lines are neither read nor kept in the caches. The loop's own data stays there,
// and memory traffic is halved. Everything is in memory, in order, when it returns.
inline void copy_streaming(std::byte* into, std::byte const* from, std::size_t bytes) noexcept {
#if SPOTTER_CAN_STREAM
    if (__builtin_cpu_supports("avx512f")) {
        copy_avx512<true>(into, from, bytes);
    } else {
        copy_lines<16, true>(into, from, bytes);
    }
    __builtin_ia32_sfence();
#else
    copy_cached(into, from, bytes);
#endif
}

// Evicts lines from the caches, as those of a large ring are when they are written.
inline void leave_caches([[maybe_unused]] std::byte const* from, [[maybe_unused]] std::size_t bytes) noexcept {
#if SPOTTER_CAN_STREAM
    for (std::size_t at = 0; at < bytes; at += copied_line) { __builtin_ia32_clflush(from + at); }
    __builtin_ia32_mfence();
#endif
}

}  // namespace spotter::inline SPOTTER_ABI::detail
