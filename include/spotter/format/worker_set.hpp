// SPDX-License-Identifier: Apache-2.0
// Format (L1): the sidecars of many workers in one file, `workers.spotx`: a cache, like each sidecar.
#pragma once

#include <spotter/format/buffer.hpp>
#include <spotter/format/bytes.hpp>
#include <spotter/format/layout.hpp>

namespace spotter::inline SPOTTER_ABI {

// An ended worker: what a reader needs before it reads the record.
struct set_worker {
    std::uint32_t number = 0;            // the number in its folder's name
    std::uint8_t how = 0;                // from its run_end; 0: there is none
    std::uint32_t expected_workers = 0;  // planned number of workers; 0: not specified
    std::uint32_t segments = 0;          // number of segments, at least one
    double last_sign = 0;                // time of its last sign: begin, close of a step, or end
};

struct set_segment {               // a segment of the worker; its size shows whether the sidecar is current
    std::uint32_t number = 0;      // of the segment
    std::uint64_t bytes = 0;       // of the segment
    std::uint64_t side_at = 0;     // of its sidecar, from the end of the directory; set by the writer
    std::uint32_t side_bytes = 0;  // of its sidecar
};

// Writes the directory, then the sidecars; all workers must be added before the first byte is written.
class worker_set_writer {
public:
    // False where memory is exhausted.
    [[nodiscard]] bool add(set_worker const& each) noexcept;
    // A segment of the last added worker; call it `segments` times. The sidecars follow in the same order.
    [[nodiscard]] bool add(set_segment each) noexcept;
    // Writes the directory to `out`, replacing its content; the sidecars must follow it. False where memory is
    // exhausted, or if the directory would exceed 4 GiB.
    [[nodiscard]] bool seal(byte_buffer& out) noexcept;

private:
    byte_buffer entries_{};
    std::uint64_t side_bytes_ = 0;
    std::uint32_t workers_ = 0;
};

// Reads the directory. If it is damaged or of an unknown version, it has no workers.
class worker_set_reader {
public:
    explicit worker_set_reader(byte_view file) noexcept;

    // Ascending by number, as added.
    [[nodiscard]] bool next(set_worker& into) noexcept;
    // The next segment of the last worker; call it `segments` times.
    [[nodiscard]] bool next(set_segment& into) noexcept;
    // The sidecar; empty if the file ends before it.
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
