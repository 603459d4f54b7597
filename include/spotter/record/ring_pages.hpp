// SPDX-License-Identifier: Apache-2.0
// Record (L4): makes the pages of a ring ready to be written once something is recorded, so that the loop meets no page
// faults.
#pragma once

#include <spotter/ring/byte_ring.hpp>

#include <cstdint>

namespace spotter::inline SPOTTER_ABI {

// A page of new memory costs more than the values that go into it, so all of them were touched when a hook was made;
// now a hook that records nothing takes no memory. The writer makes the ring ready piece by piece, beginning with the
// first entry. So that this holds from the step after a declaration on, however late the writer comes, the producer
// makes a part ready itself when such a step ends. Both may come to the same pages: making them ready changes nothing
// in them. Where the system cannot do that (Linux before 5.14, other systems) only the producer may touch what it
// writes to, so it then does so with all of the ring.
class ring_pages {
public:
    explicit ring_pages(byte_ring& ring) noexcept : ring_{ring} {}

    // Once the ring has its memory, before anything else.
    void begin() noexcept;
    // All of it now, where nobody drains it.
    void whole() noexcept;
    // Writer, or poll. The next megabyte; false where nothing was recorded yet, or there is nothing more to do.
    [[nodiscard]] bool more() noexcept;
    // Producer, between entries. Room for what is coming after a step that handed over so many bytes.
    void ahead(std::uint64_t step_bytes) noexcept;

private:
    // Threads that map memory wait while a piece is made ready: a tenth of a millisecond.
    static constexpr std::size_t piece_bytes = 256U << 10, pieces = 4;
    // So many steps, but no more than 16 MiB (some milliseconds) where that is two steps at least, and no less than 1
    // MiB.
    static constexpr std::uint64_t ahead_steps = 16, ahead_most = 16U << 20, ahead_least = 1U << 20;

    byte_ring& ring_;
    bool quietly_ = false;     // the system can do it without writing
    std::size_t done_ = 0;     // by `more`, of the memory
    std::uint64_t ready_ = 0;  // by `ahead`
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/ring_pages.ipp>
#endif
