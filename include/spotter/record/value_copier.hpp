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
#include <spotter/record/value_copier.ipp>
#endif
