// SPDX-License-Identifier: Apache-2.0
// Record (L4): populates the pages of a ring once something is recorded, so that the loop has no page faults.
#pragma once

#include <spotter/ring/byte_ring.hpp>

#include <cstdint>

namespace spotter::inline SPOTTER_ABI {

// Faulting in a new page costs more than copying values to it. Touching all pages at construction would cost memory
// even if nothing is recorded. So the writer populates the ring piece by piece, from the first entry on. In case the
// writer is late, the producer populates a part itself when a step with a declaration ends; the next step then has no
// faults. Both may populate the same pages: that does not change their content. Where the system cannot do that (Linux
// before 5.14, other systems), only the producer may touch pages, and touches the whole ring.
class ring_pages {
public:
    explicit ring_pages(byte_ring& ring) noexcept : ring_{ring} {}

    // Call it once, when the ring has its memory.
    void begin() noexcept;
    // Populates all of it, if no writer drains the ring.
    void whole() noexcept;
    // Called by the writer or poll: the next megabyte. False if nothing was recorded yet, or all is done.
    [[nodiscard]] bool more() noexcept;
    // Called by the producer between entries: makes room for what follows a step of that size.
    void ahead(std::uint64_t step_bytes) noexcept;

private:
    // Other threads that map memory wait meanwhile: a tenth of a millisecond for each piece.
    static constexpr std::size_t piece_bytes = 256U << 10, pieces = 4;
    // Room for so many steps, but at most 16 MiB (some milliseconds) or two steps, whichever is more, and at least 1
    // MiB.
    static constexpr std::uint64_t ahead_steps = 16, ahead_most = 16U << 20, ahead_least = 1U << 20;

    byte_ring& ring_;
    bool quietly_ = false;     // the system can populate without writing
    std::size_t done_ = 0;     // bytes populated by `more`
    std::uint64_t ready_ = 0;  // by `ahead`
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/ring_pages.ipp>
#endif
