// SPDX-License-Identifier: Apache-2.0
// Record (L4): what lies in the ring between the training thread and the writer. Not part of the file format.
#pragma once

#include <spotter/format/record.hpp>

namespace spotter::inline SPOTTER_ABI::ring_tag {

// An entry is the body of one row, its kind in the tag's low byte, with what the writer has to add in the bits above.
// Few values stand behind the body of their observation; many follow it as entries of their own, each a block that is
// compressed straight from the ring; an entry that is no block before all of them came says that the rest was given up.
inline constexpr std::uint32_t kind = 0xFF;
inline constexpr std::uint32_t stamp = 0x100;          // add the time
inline constexpr std::uint32_t values = 0x200;         // begins with a values_head; blocks follow
inline constexpr std::uint32_t block = 0x400;          // a block of values, no row
inline constexpr std::uint32_t values_inside = 0x800;  // begins with a values_head, ends with that many bytes of values

inline constexpr std::uint32_t timed = 0x1000;  // a close that ends with its step_stamps

inline constexpr std::size_t inline_bytes = 16U << 10;  // values up to this size stand in the entry itself

struct values_head {              // in front of an observation with values
    std::uint64_t bytes = 0;      // of all its values
    std::uint32_t form = 1;       // payload_form::bits of its blocks
    std::uint16_t chain = 0;      // links that a chain may have; 0: the values are to be whole
    std::uint16_t described = 0;  // bytes at the end of the row that say what the values are: type, order, shape
};

// When a step was begun and closed: nanoseconds since 1970.
struct step_stamps {
    std::uint64_t begun = 0, closed = 0;  // by the training thread's clock
};

}  // namespace spotter::inline SPOTTER_ABI::ring_tag
