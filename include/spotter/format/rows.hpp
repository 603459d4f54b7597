// SPDX-License-Identifier: Apache-2.0
// Format (L1): the rows of a record as plain structs: one a kind of event. Texts and byte views point into the frame.
#pragma once

#include <spotter/core/event.hpp>
#include <spotter/format/layout.hpp>
#include <spotter/format/payload_form.hpp>

#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// Where the values of an observation are in its segment: `bytes` of zstd frames from `offset` on. Blocks follow one
// another; each is a frame of the same content size for each plane, behind that of a mask where the form has them.
struct payload_place {
    std::uint64_t offset = 0;  // in the segment, of the first of its frames
    std::uint64_t bytes = 0;   // of all its frames, as stored
    payload_form form{};       // how the values are laid out in them
};

inline constexpr std::uint32_t whole_row = 0xFFFFFFFFU;  // row_view::part of a row that stands alone

// One row as found: its kind and its body.
struct row_view {
    row_kind kind{};                 // of the row itself, not of the steps row that holds it
    byte_view body{};                // without kind and length
    byte_view stored{};              // what it was read from: the body itself, or that of the steps row which holds it
    std::uint32_t part = whole_row;  // which of the rows in that steps row it is, from 0
};

namespace rows {

struct collection {           // of the plan, as it was when the attempt began
    std::string_view name{};  // its name
    std::string_view what{};  // which tensors, when, how much: a sentence
};
struct coverage {                 // what one rule had to do in this attempt
    std::string_view rule{};      // its name
    std::uint64_t matched = 0;    // tensors that it watches
    std::uint64_t judged = 0;     // closes that it decided
    std::uint64_t undecided = 0;  // closes at which something was observed but nothing could be decided
    std::uint64_t fired = 0;      // closes at which its condition held
    std::string_view reason{};    // why it could not run; empty where it did
};

struct run_begin {                  // an attempt began; the first row of each segment
    std::uint64_t run_id = 0;       // the same in every segment of a run, whatever the attempt
    std::uint32_t attempt = 0;      // 0 at first, one more each time the run is resumed
    std::uint32_t worker = 0;       // by which its folder is named
    double time = 0;                // of this attempt's start; seconds since the epoch, as every time here
    std::uint8_t instant = 0;       // spotter::instant: 0 before, 1 after the update
    std::string_view version{};     // of the library that wrote
    std::uint64_t collections = 0;  // how many are in `list`; read them with read_collection
    byte_view list{};               // the collections, one behind the other
    std::uint32_t workers = 0;      // how many the run is told to have, this one included; 0: it was not told
    std::string_view
        environment{};  // lines of "key value": what the program was built with and runs on; empty: it was not told
};

struct declare {
    tensor_info tensor{};  // as it was known then; the name points into the row
};

// The summary is decoded beside it (its type belongs to stat).
struct observe {
    tensor_id id = no_tensor;         // declared in the segment
    step_id step{};                   // the step that was open
    bool thinned = false;             // the values were to be kept, and dropped because the ring was full
    bool has_values = false;          // type, layout, shape and place are set
    bool has_shape = false;           // of an observation without values whose shape is not the declared one
    dtype type = dtype::none;         // of the values
    order layout = order::row_major;  // of the values in memory
    extents shape{};                  // of the values, or where has_shape
    payload_place place{};            // in this segment
    std::uint64_t links = 0;          // payloads that the values build on (read_base); 0: the values are whole
    byte_view bases{};                // `links` of them, the nearest first
    std::uint64_t units = 0;          // 0: no unit activity
    std::uint8_t axis = 0;            // that counts them
    byte_view active{};               // `units` u32 each, unaligned
    byte_view finite{};               // likewise: finite elements of each unit
    std::uint64_t quantiles = 0;      // 0: none
    byte_view levels{};               // `quantiles` f64 each, unaligned
    std::uint64_t bins = 0;           // 0: no histogram
    double low = 0, high = 0;         // its first and last edge
    byte_view counts{};               // `bins` varints
};

// What a rule extracted of the values of the observation whose row follows; read with each_number.
struct feature {
    tensor_id id = no_tensor;  // of that observation
    step_id step{};            // of that observation
    std::uint64_t key = 0;     // what was extracted, and how: core/event.hpp
    std::uint64_t count = 0;   // of its numbers
    bool integers = false;     // they are varints, else f64 each, unaligned
    byte_view numbers{};       // `count` of them
};

struct scalar {                // a number or a text that was kept whatever was planned
    tensor_id id = no_tensor;  // declared in the segment
    bool has_step = false;     // false: loose
    step_id step{};            // set where has_step
    bool has_time = false;     // false: the step's
    double time = 0;           // seconds since 1970; set where has_time
    dtype type = dtype::none;  // of its element; dtype::text: letters
    byte_view value{};         // one element; of text, its letters
};

struct head {                  // how the row of an observation or a scalar begins
    tensor_id id = no_tensor;  // declared in the segment
    bool has_step = false;     // false: of a loose scalar
    step_id step{};            // set where has_step
};

struct close {
    step_id step{};              // the step that was closed
    std::uint64_t ordinal = 0;   // closes of this worker before it, over all attempts
    std::uint32_t left_out = 0;  // findings beyond those recorded
    double time = 0;             // by the writer's clock; seconds since 1970
};

struct finding {                   // spotter::finding as recorded: texts are in the row
    step_id step{};                // at whose close it was found
    std::string_view rule{};       // its name, or the one given with `named`
    std::string_view reason{};     // which of the rule's conditions
    std::string_view tensor{};     // the first that violates; may be empty
    std::string_view measure{};    // what was measured
    std::string_view remedy{};     // what to do, one sentence
    std::string_view detail{};     // more evidence in words
    double measured = 0;           // in the unit of `measure`
    double threshold = 0;          // in the same unit
    std::uint8_t how = 0;          // spotter::relation
    std::uint8_t severity = 0;     // spotter::severity
    std::uint8_t decision = 0;     // spotter::decision
    bool decision_is_set = false;  // by `on(rule, ...)`; else it follows from the severity
    std::uint32_t others = 0;      // further tensors that violate
};

// Totals of this attempt so far; the last row of its kind holds.
struct drops {
    std::uint64_t dropped = 0;  // observations and scalars lost whole
    std::uint64_t thinned = 0;  // observations that lost their values
    std::uint64_t closes = 0;   // closes lost
};

struct heartbeat {    // a sign of life, every 10 s while nothing else is written
    double time = 0;  // seconds since 1970
};

// How far this worker's ring, in shared memory, is in the segments of this attempt: with this row's frame and those
// before it.
struct drained {
    std::uint64_t position = 0;  // bytes ever committed that are
    // Where an observation is behind it whose values are too large to stay in the ring until they are all written: they
    // follow this row's frame, block by block, and the observation's row them. 0: there is none.
    std::uint64_t bytes = 0;  // of all its values
    payload_form form{};      // of those blocks
    byte_view observe{};      // the body of its row, but for the place of the values
};

struct run_end {                  // an attempt ended, as its totals say
    std::uint8_t how = 0;         // spotter::ending
    std::string_view why{};       // of a failure, else the first thing that went wrong; may be empty
    std::uint64_t refused = 0;    // calls that could not be taken
    std::uint64_t stored = 0;     // observations and scalars in the record
    std::uint64_t dropped = 0;    // observations and scalars lost whole
    std::uint64_t thinned = 0;    // observations that lost their values
    std::uint64_t closes = 0;     // steps closed
    double time = 0;              // seconds since 1970
    std::uint64_t coverages = 0;  // how many are in `list`; read them with read_coverage
    byte_view list{};             // the coverages, one behind the other
};

// The loop was in a section for so long, and had not left it; or its process ended in it.
struct stay {
    double time = 0;             // when that was seen
    double seconds = 0;          // at least; 0: who saw it came when the process was gone
    std::string_view section{};  // its whole path, `outer/inner`
};

}  // namespace rows

// The element size that payload planes are split by: that of a complex number's parts.
[[nodiscard]] constexpr std::size_t plane_width(dtype type) noexcept {
    return is_complex(type) ? size_of(type) / 2 : size_of(type);
}
// Whether values of that type can stand so.
[[nodiscard]] constexpr bool has_form(dtype type, payload_form form) noexcept {
    return type != dtype::none && form.known() && (form.planes() == 1 || form.planes() == plane_width(type));
}

namespace stored_terms {
// Bits of a stored summary's mask: which fields it has. The same values as spotter::terms, which belongs to stat.
inline constexpr std::uint32_t nonfinite = 1U << 0, zeros = 1U << 1, range = 1U << 2, abs_range = 1U << 3,
                               sum = 1U << 4, sum_abs = 1U << 5, sum_squares = 1U << 6, variance = 1U << 7,
                               product = 1U << 8, delta = 1U << 9, hash = 1U << 10, all = (1U << 11) - 1;
}  // namespace stored_terms

}  // namespace spotter::inline SPOTTER_ABI
