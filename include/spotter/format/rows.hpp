// SPDX-License-Identifier: Apache-2.0
// Format (L1): the rows of a record as plain structs: one a kind of event. Texts and byte views point into the frame.
#pragma once

#include <spotter/core/event.hpp>
#include <spotter/format/layout.hpp>

#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// Where the values of an observation are in its segment: `bytes` of zstd frames from `offset` on. Blocks follow one
// another; each is `planes` frames of the same content size.
struct payload_place {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::uint8_t planes = 1;
};

inline constexpr std::uint32_t whole_row = 0xFFFFFFFFU;

// One row as found: its kind and its body.
struct row_view {
    row_kind kind{};
    byte_view body{};
    byte_view stored{};              // what it was read from: the body itself, or that of the steps row which holds it
    std::uint32_t part = whole_row;  // which of the rows in that steps row it is, from 0
};

namespace rows {

struct collection {
    std::string_view name{};
    std::string_view what{};
};
struct coverage {
    std::string_view rule{};
    std::uint64_t matched = 0;
    std::uint64_t judged = 0;
    std::uint64_t undecided = 0;
    std::uint64_t fired = 0;
    std::string_view reason{};
};

struct run_begin {
    std::uint64_t run_id = 0;   // the same in every segment of a run, whatever the attempt
    std::uint32_t attempt = 0;  // 0 at first, one more each time the run is resumed
    std::uint32_t worker = 0;
    double time = 0;                // of this attempt's start; seconds since the epoch, as every time here
    std::uint8_t instant = 0;       // spotter::instant: 0 before, 1 after the update
    std::string_view version{};     // of the library that wrote
    std::uint64_t collections = 0;  // how many are in `list`; read them with read_collection
    byte_view list{};
    std::uint32_t workers = 0;  // how many the run is told to have, this one included; 0: it was not told
    std::string_view environment{};  // lines of "key value": what the program was built with and runs on; empty: it was not told
};

struct declare {
    tensor_info tensor{};
};

// The summary is decoded beside it (its type belongs to stat).
struct observe {
    tensor_id id = no_tensor;
    step_id step{};
    bool thinned = false;     // the values were to be kept, and dropped because the ring was full
    bool has_values = false;  // type, layout, shape and place are set
    bool has_shape = false;   // of an observation without values whose shape is not the declared one
    dtype type = dtype::none;
    order layout = order::row_major;
    extents shape{};
    payload_place place{};
    std::uint64_t links = 0;  // payloads that the values build on (read_base); 0: the values are whole
    byte_view bases{};
    std::uint64_t units = 0;  // 0: no unit activity
    std::uint8_t axis = 0;    // that counts them
    byte_view active{};       // `units` u32 each, unaligned
    byte_view finite{};
    std::uint64_t quantiles = 0;  // 0: none
    byte_view levels{};           // `quantiles` f64 each, unaligned
    std::uint64_t bins = 0;       // 0: no histogram
    double low = 0, high = 0;     // its first and last edge
    byte_view counts{};           // `bins` varints
};

// What a rule extracted of the values of the observation whose row follows; read with each_number.
struct feature {
    tensor_id id = no_tensor;
    step_id step{};
    std::uint64_t key = 0;    // what was extracted, and how: core/event.hpp
    std::uint64_t count = 0;  // of its numbers
    bool integers = false;    // they are varints, else f64 each, unaligned
    byte_view numbers{};
};

struct scalar {
    tensor_id id = no_tensor;
    bool has_step = false;  // false: loose
    step_id step{};
    bool has_time = false;  // false: the step's
    double time = 0;
    dtype type = dtype::none;
    byte_view value{};  // one element; of text, its letters
};

struct close {
    step_id step{};
    std::uint64_t ordinal = 0;   // closes of this worker before it, over all attempts
    std::uint32_t left_out = 0;  // findings beyond those recorded
    double time = 0;
};

struct finding {
    step_id step{};
    std::string_view rule{};
    std::string_view reason{};
    std::string_view tensor{};
    std::string_view measure{};
    std::string_view remedy{};
    std::string_view detail{};
    double measured = 0;
    double threshold = 0;
    std::uint8_t how = 0;  // spotter::relation
    std::uint8_t severity = 0;
    std::uint8_t decision = 0;
    bool decision_is_set = false;
    std::uint32_t others = 0;
};

// Totals of this attempt so far; the last row of its kind holds.
struct drops {
    std::uint64_t dropped = 0;  // observations and scalars lost whole
    std::uint64_t thinned = 0;  // observations that lost their values
    std::uint64_t closes = 0;   // closes lost
};

struct heartbeat {
    double time = 0;
};

// How far this worker's ring, in shared memory, is in the segments of this attempt: with this row's frame and those before it.
struct drained {
    std::uint64_t position = 0;  // bytes ever committed that are
    // Where an observation is behind it whose values are too large to stay in the ring until they are all written: they follow
    // this row's frame, block by block, and the observation's row them. 0: there is none.
    std::uint64_t bytes = 0;  // of all its values
    std::uint8_t planes = 1;
    byte_view observe{};  // the body of its row, but for the place of the values
};

struct run_end {
    std::uint8_t how = 0;  // spotter::ending
    std::string_view why{};
    std::uint64_t refused = 0;
    std::uint64_t stored = 0;
    std::uint64_t dropped = 0;
    std::uint64_t thinned = 0;
    std::uint64_t closes = 0;
    double time = 0;
    std::uint64_t coverages = 0;  // how many are in `list`; read them with read_coverage
    byte_view list{};
};

// The loop was in a section for so long, and had not left it; or its process ended in it.
struct stay {
    double time = 0;     // when that was seen
    double seconds = 0;  // at least; 0: who saw it came when the process was gone
    std::string_view section{};
};

}  // namespace rows

// The element size that payload planes are split by: that of a complex number's parts.
[[nodiscard]] constexpr std::size_t plane_width(dtype type) noexcept {
    return is_complex(type) ? size_of(type) / 2 : size_of(type);
}

// Bits of a stored summary's mask; the same values as spotter::terms, which belongs to stat.
namespace stored_terms {
inline constexpr std::uint32_t nonfinite = 1U << 0, zeros = 1U << 1, range = 1U << 2, abs_range = 1U << 3,
                               sum = 1U << 4, sum_abs = 1U << 5, sum_squares = 1U << 6, variance = 1U << 7,
                               product = 1U << 8, delta = 1U << 9, hash = 1U << 10, all = (1U << 11) - 1;
}  // namespace stored_terms

}  // namespace spotter::inline SPOTTER_ABI
