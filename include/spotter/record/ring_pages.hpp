// SPDX-License-Identifier: Apache-2.0
// Record (L4): populates the pages of a ring once something is recorded, so that the loop has no page faults.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/file/system.hpp>
#include <spotter/ring/byte_ring.hpp>

#include <algorithm>
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
    void begin() noexcept {
        std::span<std::byte> const all = ring_.unused();
        quietly_ = make_ready(all.first((std::min)(all.size(), std::size_t{1})));
        if (!quietly_) { done_ = ring_.size(); }  // the producer touches all pages
    }

    // Populates all of it, if no writer drains the ring.
    void whole() noexcept {
        if (ready_ == ring_.size()) { return; }
        std::span<std::byte> const rest = ring_.unused();
        if (!quietly_ || !make_ready(rest)) { ring_.touch(rest.size()); }
        done_ = ring_.size();
        ready_ = ring_.size();
    }

    // Called by the writer or poll: the next megabyte. False if nothing was recorded yet, or all is done.
    [[nodiscard]] bool more() noexcept {
        bool any = false;
        for (std::size_t i = 0; i < pieces && done_ < ring_.size(); ++i) {
            std::span<std::byte> const rest = ring_.unused();
            std::size_t const used = ring_.size() - rest.size();
            if (used == 0) { return false; }
            std::size_t const from = (std::max)(done_, used);
            std::size_t const bytes = (std::min)(piece_bytes, ring_.size() - from);
            bool const good = bytes > 0 && make_ready(rest.subspan(from - used, bytes));
            done_ = good ? from + bytes : ring_.size();
            any = any || good;
        }
        return any;
    }

    // Called by the producer between entries: makes room for what follows a step of that size.
    void ahead(std::uint64_t step_bytes) noexcept {
        std::span<std::byte> const rest = ring_.unused();
        std::uint64_t const used = ring_.size() - rest.size();
        std::uint64_t const step = (std::min)(step_bytes, std::uint64_t{ring_.size()});
        std::uint64_t const wanted = (std::min)(step * ahead_steps + ahead_least, (std::max)(2 * step, ahead_most));
        std::uint64_t const end = quietly_ ? (std::min)(used + wanted, std::uint64_t{ring_.size()}) : ring_.size();
        std::uint64_t const from = (std::max)(used, ready_);
        if (end <= from) { return; }
        auto const part = rest.subspan(as_size(from - used), as_size(end - from));
        if (!quietly_ || !make_ready(part)) { ring_.touch(as_size(end - used)); }
        ready_ = end;
    }

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
