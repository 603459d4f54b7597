// SPDX-License-Identifier: Apache-2.0
// Record (L4): what a killed process left in its ring in shared memory, brought into its record.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/file/system.hpp>
#include <spotter/format/record.hpp>
#include <spotter/record/ring_drain.hpp>
#include <spotter/record/segment_files.hpp>

namespace spotter::inline SPOTTER_ABI {

struct recovered {              // what came of the rings of killed processes
    std::uint64_t rings = 0;    // that were there and are gone now
    std::uint64_t entries = 0;  // of rings: rows and blocks of values that are in the record now
    std::uint64_t closes = 0;   // closed steps among them
    std::uint64_t live = 0;     // workers that are being written, which were left alone
    error first_error{};        // the first ring that could not be read, or not to its end
};

namespace detail {

// Bytes of attempt_extent::texts, which stood in that segment.
struct text_place {
    std::size_t at = 0;
    std::size_t size = 0;
    std::int64_t segment = -1;
};

// Values that were on their way: whole blocks of them behind the last frame of a segment.
struct value_extent {
    rows::drained mark{};  // with no bytes there were none
    text_place observe{};
    std::uint64_t done = 0;  // bytes of values in these blocks
    std::uint64_t packed_at = 0;
    std::uint64_t packed = 0;
    std::uint64_t position = 0;  // of the ring, behind them
};

// How far the segments of one attempt go, and what a next one needs to go on.
//
// A process may be killed after a frame reached the file and before the ring's tail moved, amid a write, or at the head
// of a new segment. So only the file says what is in it: the last whole frame of rows that has a mark, in the newest
// segment that has one. Whatever is behind it is written again; nothing before it is.
struct attempt_extent {
    bool known = false;  // there is a segment of that attempt
    bool marked = false;
    std::uint64_t ordinal = 0;
    double time = 0;
    std::uint64_t position = 0;  // of the ring
    value_extent values{};
    byte_buffer run_begin;
    byte_buffer texts;
    slot_array<text_place> declared;  // bodies
};

[[nodiscard]] result<attempt_extent> extent_of(file_system& files, std::string_view folder, ring_header const& ring,
                                               number_list const& segments) noexcept;

}  // namespace detail

// Brings what is left of the ring of the recording in `folder` into a new segment of the same attempt, then removes the
// ring. The caller holds the folder's lock. An error means that nothing is lost and it can be tried again, however
// often it was broken off; a ring that is damaged, or of another version, is told in `first_error`: what is whole of
// the former is in the record, and the latter stays.
[[nodiscard]] result<recovered> recover_folder(file_system& files, std::string_view folder) noexcept;

namespace detail {

// The same for a folder that nobody has locked, which may be missing or be a file: `live` where somebody writes there.
[[nodiscard]] result<recovered> recover_unlocked(file_system& files, std::string_view folder) noexcept;

}  // namespace detail

// Brings what the killed workers of the run in `path` left in shared memory into its record. Needed only where nobody
// goes on with the run: a recorder that resumes it does the same first. No error where nothing was left.
[[nodiscard]] result<recovered> recover(std::string_view path, file_system& files = system_files()) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/recover.ipp>
#endif
