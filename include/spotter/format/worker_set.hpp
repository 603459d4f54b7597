// SPDX-License-Identifier: Apache-2.0
// Format (L1): the sidecars of many workers in one file, `workers.spotx`: a cache, as each of them is.
#pragma once

#include <spotter/format/buffer.hpp>
#include <spotter/format/bytes.hpp>
#include <spotter/format/layout.hpp>

namespace spotter::inline SPOTTER_ABI {

// One that does not write any more: what a reader has to know before it looks at the record itself.
struct set_worker {
    std::uint32_t number = 0;            // by which its folder is named
    std::uint8_t how = 0;                // as in run_end; 0: its record has none
    std::uint32_t expected_workers = 0;  // that the run is told to have; 0: it was not told
    std::uint32_t segments = 0;          // one at least
    double last_sign = 0;                // when it began, closed a step or ended, whichever was last
};

struct set_segment {               // one of its segments; its bytes tell whether the sidecar still fits
    std::uint32_t number = 0;      // of the segment
    std::uint64_t bytes = 0;       // of the segment
    std::uint64_t side_at = 0;     // of its sidecar, from the end of the directory on; the writer sets it
    std::uint32_t side_bytes = 0;  // of its sidecar
};

// Says first who is in it, then gives the sidecars; all numbers are known before the first byte is written.
class worker_set_writer {
public:
    // False where memory is exhausted.
    [[nodiscard]] bool add(set_worker const& each) noexcept;
    // Of the worker added last, `segments` times; the sidecars follow in the same order.
    [[nodiscard]] bool add(set_segment each) noexcept;
    // The directory, once all are added; `out` is overwritten. Sidecars are to follow, one behind the other. False
    // where memory is exhausted, or a directory would be larger than 4 GiB.
    [[nodiscard]] bool seal(byte_buffer& out) noexcept;

private:
    byte_buffer entries_{};
    std::uint64_t side_bytes_ = 0;
    std::uint32_t workers_ = 0;
};

// Reads the directory. One that is damaged, or of a version that is not known, has no workers.
class worker_set_reader {
public:
    explicit worker_set_reader(byte_view file) noexcept;

    // By number, ascending, as they were added.
    [[nodiscard]] bool next(set_worker& into) noexcept;
    // Of the worker that came last, so often as it has segments.
    [[nodiscard]] bool next(set_segment& into) noexcept;
    // Empty where the file ends before it.
    [[nodiscard]] byte_view side_of(set_segment const& each) const noexcept;

private:
    byte_view file_;
    byte_reader in_{{}};
    std::uint32_t left_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/format/worker_set.ipp>
#endif
