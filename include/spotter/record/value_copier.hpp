// SPDX-License-Identifier: Apache-2.0
// Record (L4): copies values into a ring, through the caches or past them.
#pragma once

#include <spotter/hook/options.hpp>
#include <spotter/ring/byte_ring.hpp>

namespace spotter::inline SPOTTER_ABI {

// Called by the training thread. copying::automatic measures at the first values that are large enough.
class value_copier {
public:
    // Call it when the ring has its memory.
    void begin(copying how, byte_ring const& ring) noexcept;
    // Call it before memory is claimed for so many bytes.
    void choose(byte_ring& ring, std::size_t bytes) noexcept {
        if (stream_from_ == unmeasured && bytes >= few_bytes) { measure(ring); }
    }
    // Copies into claimed memory.
    void copy(std::byte* into, std::byte const* from, std::size_t bytes) const noexcept;

private:
    // Fewer bytes are never streamed: waiting for memory would take longer.
    static constexpr std::size_t few_bytes = 4096;
    static constexpr std::size_t never = ~std::size_t{0}, unmeasured = never - 1;
    static constexpr std::size_t rounds = 16, round_bytes = 64U << 10;
    static constexpr std::size_t room = (2 * rounds + 1) * round_bytes;

    // Copies a few blocks into the ring in both ways, whole and in small pieces, each to its own place, so that no
    // cache helps. Not while the ring lacks room for it.
    void measure(byte_ring& ring) noexcept;

    std::size_t stream_from_ = never;  // so many bytes, or more, go past the caches
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/entry.hpp>
#include <spotter/ring/copy.hpp>

#include <chrono>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY void value_copier::begin(copying how, byte_ring const& ring) noexcept {
    stream_from_ = how == copying::streaming ? few_bytes : never;
    // A ring that is too small to measure in stays in a cache.
    if (how == copying::automatic && detail::can_stream && room <= ring.largest()) { stream_from_ = unmeasured; }
}

SPOTTER_BODY void value_copier::copy(std::byte* into, std::byte const* from, std::size_t bytes) const noexcept {
    if (bytes >= stream_from_) { return detail::copy_streaming(into, from, bytes); }
    detail::copy_cached(into, from, bytes);
}

SPOTTER_COLD_BODY void value_copier::measure(byte_ring& ring) noexcept {
    std::byte* const first = ring.prepare(room);
    if (first == nullptr) { return; }
    // Page faults must not be measured; and new pages are in the caches, unlike those of a ring in use.
    ring.touch(room + byte_ring::header);
    detail::leave_caches(first, 2 * rounds * round_bytes);
    std::byte const* const from = first + 2 * rounds * round_bytes;
    auto const seconds = [&](std::byte* to, std::size_t piece, auto&& copy_to) {
        auto const begin = std::chrono::steady_clock::now();
        for (std::size_t at = 0; at < round_bytes; at += piece) { copy_to(to + at, from + at, piece); }
        return std::chrono::steady_clock::now() - begin;
    };
    std::size_t won[2]{};  // rounds that streaming won: whole blocks, pieces; sums of times would include interruptions
    for (std::size_t i = 0; i < rounds; ++i) {
        std::byte* const to = first + 2 * i * round_bytes;
        std::size_t const piece = i % 2 == 0 ? round_bytes : few_bytes;
        auto const cached = seconds(to, piece, detail::copy_cached);
        won[i % 2] += seconds(to + round_bytes, piece, detail::copy_streaming) < cached ? 1U : 0U;
    }
    bool const streams = 4 * won[0] > rounds;
    stream_from_ = !streams ? never : 4 * won[1] > rounds ? few_bytes : ring_tag::inline_bytes + 1;
}

}  // namespace spotter::inline SPOTTER_ABI

#endif
