// SPDX-License-Identifier: Apache-2.0
// Record (L4): brings the ring that a killed process left in shared memory into its record.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/file/system.hpp>
#include <spotter/format/record.hpp>
#include <spotter/record/ring_drain.hpp>
#include <spotter/record/segment_files.hpp>

namespace spotter::inline SPOTTER_ABI {

struct recovered {              // the result for the rings of killed processes
    std::uint64_t rings = 0;    // recovered and removed
    std::uint64_t entries = 0;  // rows and blocks of values that are now in the record
    std::uint64_t closes = 0;   // closed steps among them
    std::uint64_t live = 0;     // workers that are still being written; left alone
    error first_error{};        // for the first ring that could not be read completely
};

namespace detail {

// A range of attempt_extent::texts, and the segment that it came from.
struct text_place {
    std::size_t at = 0;
    std::size_t size = 0;
    std::int64_t segment = -1;
};

// Values that were partly written: complete blocks behind the last frame of a segment.
struct value_extent {
    rows::drained mark{};  // bytes == 0: there were none
    text_place observe{};
    std::uint64_t done = 0;  // bytes of values in these blocks
    std::uint64_t packed_at = 0;
    std::uint64_t packed = 0;
    std::uint64_t position = 0;  // in the ring, behind them
};

// What the segments of one attempt hold, and what a next segment needs to continue.
//
// A process may be killed between writing a frame and moving the ring's tail, during a write, or at the head of a new
// segment. So only the file shows what it holds: up to the last complete row frame with a mark, in the newest segment
// that has one. Everything behind that is written again, nothing before it.
struct attempt_extent {
    bool known = false;  // the attempt has a segment
    bool marked = false;
    std::uint64_t ordinal = 0;
    double time = 0;
    std::uint64_t position = 0;  // in the ring
    value_extent values{};
    byte_buffer run_begin;
    byte_buffer texts;
    slot_array<text_place> declared;  // their bodies
};

[[nodiscard]] result<attempt_extent> extent_of(file_system& files, std::string_view folder, ring_header const& ring,
                                               number_list const& segments) noexcept;

}  // namespace detail

// Writes the rest of the ring of the recording in `folder` into a new segment of the same attempt, then removes the
// ring. The caller holds the folder's lock. After an error nothing is lost, and the call can be repeated any number of
// times. `first_error` reports a ring that is damaged or of another version. The intact part of a damaged ring is in
// the record; a ring of another version stays.
[[nodiscard]] result<recovered> recover_folder(file_system& files, std::string_view folder) noexcept;

namespace detail {

// The same for a folder without a lock, which may be missing or be a file. `live` if another process writes there.
[[nodiscard]] result<recovered> recover_unlocked(file_system& files, std::string_view folder) noexcept;

}  // namespace detail

// Brings what the killed workers of the run in `path` left in shared memory into its record. Needed only if the run is
// not resumed: a recorder that resumes it does the same first. Not an error if nothing was left.
[[nodiscard]] result<recovered> recover(std::string_view path, file_system& files = system_files()) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/recover.ipp>
#endif
