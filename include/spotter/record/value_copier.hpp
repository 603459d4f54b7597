// SPDX-License-Identifier: Apache-2.0
// Record (L4): how values are copied into a ring: through the caches, or past them.
#pragma once

#include <spotter/hook/options.hpp>
#include <spotter/ring/byte_ring.hpp>

namespace spotter::inline SPOTTER_ABI {

// Called by the training thread. With copying::automatic it is found out at the first values that may go past the
// caches.
class value_copier {
public:
    // Once the ring has its memory.
    void begin(copying how, byte_ring const& ring) noexcept;
    // Before so many are copied, and before memory is claimed for them.
    void choose(byte_ring& ring, std::size_t bytes) noexcept {
        if (stream_from_ == unmeasured && bytes >= few_bytes) { measure(ring); }
    }
    // Into memory that was claimed.
    void copy(std::byte* into, std::byte const* from, std::size_t bytes) const noexcept;

private:
    // Fewer are never streamed: waiting until they are in memory takes longer.
    static constexpr std::size_t few_bytes = 4096;
    static constexpr std::size_t never = ~std::size_t{0}, unmeasured = never - 1;
    static constexpr std::size_t rounds = 16, round_bytes = 64U << 10;
    static constexpr std::size_t room = (2 * rounds + 1) * round_bytes;

    // Copies a few blocks either way into the ring, whole and in small pieces, each to a place of its own, so that no
    // cache helps. Not while the ring has no room for it.
    void measure(byte_ring& ring) noexcept;

    std::size_t stream_from_ = never;  // so many bytes go past the caches
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/value_copier.ipp>
#endif
