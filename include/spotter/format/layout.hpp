// SPDX-License-Identifier: Apache-2.0
// Format (L1): the constants of the file format in docs/format.md. Changing one changes the format.
#pragma once

#include <spotter/format/fwd.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace layout {

inline constexpr std::uint16_t version = 2;         // written version of the format
inline constexpr std::uint16_t oldest_version = 1;  // oldest version that can be read
// 0: frozen. Drafts are 1 and up, and may change without a new version.
inline constexpr std::uint16_t draft = 0;

// Magic numbers of frames. The first two are skippable frames of Zstandard (0x184D2A50 to 0x184D2A5F).
inline constexpr std::uint32_t head_magic = 0x184D2A50U;
inline constexpr std::uint32_t row_magic = 0x184D2A51U;   // of a row frame
inline constexpr std::uint32_t zstd_magic = 0xFD2FB528U;  // of a payload frame (RFC 8878, section 3.1.1)

inline constexpr std::size_t skippable_bytes = 8;  // magic and size fields
inline constexpr std::size_t head_bytes = 64;      // the whole head frame
inline constexpr std::size_t row_head_bytes = 48;  // of a row frame, before its rows
inline constexpr std::size_t row_tail_bytes = 8;   // of a row frame, after its rows: the checksum
// A row frame is sealed before it exceeds this, unless a single row does.
inline constexpr std::size_t row_frame_target = 4096;

inline constexpr std::size_t packed_step_limit = 64U << 10;  // a step with more bytes of rows is not packed

// The most bytes of values in a payload block; a multiple of every element size.
inline constexpr std::size_t block_bytes = 256U << 10;
inline constexpr std::size_t longest_chain = 64;  // most payloads that one may build on
inline constexpr std::size_t plain_bytes = 512;   // a smaller payload is not split into planes

// Sidecar.
inline constexpr std::uint32_t place_magic = 0x32585053U;   // "SPX2"
inline constexpr std::size_t place_bytes = 112;             // of one place, with its checksum
inline constexpr std::size_t place_rows_bytes = 16U << 10;  // approximate size of the row frames of one place

// The sidecars of many workers in one file; its directory is a skippable frame, too.
inline constexpr std::uint32_t set_magic = 0x184D2A52U;
inline constexpr std::uint32_t set_version = 1;       // of the directory; the only one that is read
inline constexpr std::size_t set_head_bytes = 16;     // of the directory, before its entries
inline constexpr std::size_t set_worker_bytes = 24;   // of a worker's entry; those of its segments follow
inline constexpr std::size_t set_segment_bytes = 24;  // of a segment's entry

// Flags of a row frame and of a place.
inline constexpr std::uint32_t has_declares = 1;      // a declare or run_begin row
inline constexpr std::uint32_t has_findings = 2;      // a finding row
inline constexpr std::uint32_t has_run_end = 4;       // a run_end row: the attempt was ended
inline constexpr std::uint32_t last_of_segment = 8;   // the segment's last frame
inline constexpr std::uint32_t has_drops = 16;        // a drops row: data was lost
inline constexpr std::uint32_t thinned_segment = 32;  // rewritten without values
inline constexpr std::uint32_t has_stays = 64;        // a stay row: a long section, or the last of the process

// Names in a run's folder.
inline constexpr char data_suffix[] = ".spot";       // of a segment
inline constexpr char side_suffix[] = ".spotx";      // of a segment's sidecar
inline constexpr char set_name[] = "workers.spotx";  // sidecars of ended workers, in one file
inline constexpr char lost_name[] = "lost";          // known losses; a line for each segment (trial/losses.hpp)
inline constexpr char lock_name[] = "lock";          // in a worker's folder: held while it is written
inline constexpr char stop_name[] = "stop";          // created from outside: requests a stop
// Created from outside: another request (record/control_file.hpp).
inline constexpr char control_name[] = "control";
inline constexpr char answer_name[] = "control.answer";  // of each worker, to the latest request
inline constexpr char flight_name[] = "flight";          // the flight recorder's folder, a run of its own
inline constexpr char system_name[] = "system";          // the folder of the machine's samples, likewise
inline constexpr char ring_name[] = "ring";              // holds the name of the ring's shared memory, while it exists

}  // namespace layout

// The kind of a row. Unknown kinds are skipped: each row has a length.
enum class row_kind : std::uint8_t {
    run_begin = 1,
    declare = 2,
    observe = 3,
    scalar = 4,
    close = 5,
    finding = 6,
    drops = 7,
    heartbeat = 8,
    run_end = 9,
    steps = 10,
    drained = 11,
    feature = 12,
    times = 13,
    stay = 14,
};

// `000042.spot`: writes the name of a numbered file to `into` (at least 24 characters); returns its length.
constexpr std::size_t name_segment(std::uint32_t number, char const* suffix, char* into) noexcept {
    char digits[10]{};
    std::size_t count = 0;
    for (std::uint32_t rest = number; count < 6 || rest != 0; rest /= 10) {
        digits[count++] = static_cast<char>('0' + rest % 10);
    }
    std::size_t size = 0;
    while (count > 0) { into[size++] = digits[--count]; }
    for (; *suffix != '\0'; ++suffix) { into[size++] = *suffix; }
    into[size] = '\0';
    return size;
}

}  // namespace spotter::inline SPOTTER_ABI
