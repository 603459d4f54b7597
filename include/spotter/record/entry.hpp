// SPDX-License-Identifier: Apache-2.0
// Record (L4): the entries of the ring between the training thread and the writer. Not part of the file format.
#pragma once

#include <spotter/format/record.hpp>

namespace spotter::inline SPOTTER_ABI::ring_tag {

// An entry is the body of one row. Its kind is in the tag's low byte; the bits above tell the writer what to add. Few
// values follow the body in the same entry. Many values follow as entries of their own, each a block that the writer
// compresses directly from the ring. If another entry comes before the last block, the rest was given up.
inline constexpr std::uint32_t kind = 0xFF;
inline constexpr std::uint32_t stamp = 0x100;          // add the time
inline constexpr std::uint32_t values = 0x200;         // begins with a values_head; blocks follow
inline constexpr std::uint32_t block = 0x400;          // a block of values, not a row
inline constexpr std::uint32_t values_inside = 0x800;  // begins with a values_head, ends with all its values

inline constexpr std::uint32_t timed = 0x1000;  // a close with its step_stamps at the end

inline constexpr std::size_t inline_bytes = 16U << 10;  // larger values are entries of their own

struct values_head {              // precedes an observation with values
    std::uint64_t bytes = 0;      // of all its values
    std::uint32_t form = 1;       // payload_form::bits of its blocks
    std::uint16_t chain = 0;      // most links of a delta chain; 0: store the values whole
    std::uint16_t described = 0;  // bytes at the end of the row that encode type, order and shape
};

// The begin and close of a step: nanoseconds since 1970.
struct step_stamps {
    std::uint64_t begun = 0, closed = 0;  // by the training thread's clock
};

}  // namespace spotter::inline SPOTTER_ABI::ring_tag
