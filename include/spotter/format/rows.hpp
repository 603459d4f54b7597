// SPDX-License-Identifier: Apache-2.0
// Format (L1): plain structs for the rows of a record, one for each kind of event. Texts and byte views point into the
// frame.
#pragma once

#include <spotter/core/event.hpp>
#include <spotter/format/layout.hpp>
#include <spotter/format/payload_form.hpp>

#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// The values of an observation in its segment: `bytes` of zstd frames from `offset` on, block by block. A block has a
// frame for each plane, all of the same content size, preceded by a frame for the mask if the form has masks.
struct payload_place {
    std::uint64_t offset = 0;  // of the first frame, in the segment
    std::uint64_t bytes = 0;   // of all frames, as stored
    payload_form form{};       // layout of the values in the frames
};

inline constexpr std::uint32_t whole_row = 0xFFFFFFFFU;  // row_view::part of a row that is not packed

// A row: its kind and its body.
struct row_view {
    row_kind kind{};                 // of the row itself; of a packed row not `steps`
    byte_view body{};                // without kind and length
    byte_view stored{};              // the body, or for a packed row the body of its steps row
    std::uint32_t part = whole_row;  // the number of a packed row in its steps row, from 0
};

namespace rows {

struct collection {  // a collection of the plan at the begin of the attempt
    std::string_view name{};
    std::string_view what{};  // in words: which tensors, when, and which terms
};
struct coverage {  // the activity of one rule in this attempt
    std::string_view rule{};
    std::uint64_t matched = 0;    // tensors that it observes
    std::uint64_t judged = 0;     // closes with a decision
    std::uint64_t undecided = 0;  // closes with observations, but without a decision
    std::uint64_t fired = 0;      // closes at which its condition held
    std::string_view reason{};    // why it could not judge; empty if it could
};

struct run_begin {                   // the begin of an attempt; the first row of each segment
    std::uint64_t run_id = 0;        // the same in all segments and attempts of a run
    std::uint32_t attempt = 0;       // from 0, plus one for each resume
    std::uint32_t worker = 0;        // the number in its folder's name
    double time = 0;                 // start of this attempt; seconds since 1970, like all times here
    std::uint8_t instant = 0;        // spotter::instant: 0 before, 1 after the update
    std::string_view version{};      // of the writing library
    std::uint64_t collections = 0;   // number of entries in `list`; use read_collection
    byte_view list{};                // the collections
    std::uint32_t workers = 0;       // planned number of workers, with this one; 0: not specified
    std::string_view environment{};  // lines of "key value": build and machine; empty: unknown
};

struct declare {
    tensor_info tensor{};  // as known then; the name points into the row
};

// The summary is decoded separately, because its type belongs to stat.
struct observe {
    tensor_id id = no_tensor;         // declared in the segment
    step_id step{};                   // the open step
    bool thinned = false;             // the values were dropped because the ring was full
    bool has_values = false;          // type, layout, shape and place are set
    bool has_shape = false;           // without values: the shape is not the declared one
    dtype type = dtype::none;         // of the values
    order layout = order::row_major;  // of the values in memory
    extents shape{};                  // of the values, or if has_shape
    payload_place place{};            // in this segment
    std::uint64_t links = 0;          // payloads that the values build on (read_base); 0: stored whole
    byte_view bases{};                // `links` bases, the nearest first
    std::uint64_t units = 0;          // 0: no unit activity
    std::uint8_t axis = 0;            // the axis that counts them
    byte_view active{};               // `units` u32 each, unaligned
    byte_view finite{};               // likewise: finite elements of each unit
    std::uint64_t quantiles = 0;      // 0: none
    byte_view levels{};               // `quantiles` f64 each, unaligned
    std::uint64_t bins = 0;           // 0: no histogram
    double low = 0, high = 0;         // of the first and the last bin
    byte_view counts{};               // `bins` varints
};

// What a rule extracted from the values of the observation that follows; read it with each_number.
struct feature {
    tensor_id id = no_tensor;  // of that observation
    step_id step{};            // of that observation
    std::uint64_t key = 0;     // identifies the extraction: core/feature_list.hpp
    std::uint64_t count = 0;   // number of numbers
    bool integers = false;     // varints; otherwise f64, unaligned
    byte_view numbers{};       // `count` numbers
};

struct scalar {                // a number or a text that is kept regardless of the plan
    tensor_id id = no_tensor;  // declared in the segment
    bool has_step = false;     // false: between steps
    step_id step{};            // set where has_step
    bool has_time = false;     // false: the step's time applies
    double time = 0;           // seconds since 1970; set where has_time
    dtype type = dtype::none;  // dtype::text: a text
    byte_view value{};         // one element, or the bytes of a text
};

struct head {                  // the first fields of an observation or a scalar
    tensor_id id = no_tensor;  // declared in the segment
    bool has_step = false;     // false: a scalar between steps
    step_id step{};            // set where has_step
};

struct close {
    step_id step{};              // the closed step
    std::uint64_t ordinal = 0;   // closes of this worker before it, over all attempts
    std::uint32_t left_out = 0;  // findings beyond those recorded
    double time = 0;             // of the writer's clock; seconds since 1970
};

struct finding {                   // a spotter::finding; its texts are in the row
    step_id step{};                // the step at whose close it was found
    std::string_view rule{};       // the rule's name, or the one given with `named`
    std::string_view reason{};     // the rule's condition
    std::string_view tensor{};     // the first tensor that meets the condition; may be empty
    std::string_view measure{};    // what was measured
    std::string_view remedy{};     // what to do, in one sentence
    std::string_view detail{};     // further evidence, in words
    double measured = 0;           // in the unit of `measure`
    double threshold = 0;          // in the same unit
    std::uint8_t how = 0;          // spotter::relation
    std::uint8_t severity = 0;     // spotter::severity
    std::uint8_t decision = 0;     // spotter::decision
    bool decision_is_set = false;  // by `on(rule, ...)`; otherwise it follows from the severity
    std::uint32_t others = 0;      // further tensors that meet the condition
};

// Totals of this attempt so far; the last such row counts.
struct drops {
    std::uint64_t dropped = 0;  // observations and scalars lost whole
    std::uint64_t thinned = 0;  // observations that lost their values
    std::uint64_t closes = 0;   // closes lost
};

struct heartbeat {    // a sign of life, every 10 s without other rows
    double time = 0;  // seconds since 1970
};

// The position in this worker's shared-memory ring up to which the segments of this attempt, with this row's frame,
// hold its content.
struct drained {
    std::uint64_t position = 0;  // in bytes ever committed
    // If the next observation's values are too large to wait in the ring: they follow this row's frame block by block,
    // and the observation's row follows them. 0: there is none.
    std::uint64_t bytes = 0;  // of all its values
    payload_form form{};      // of these blocks
    byte_view observe{};      // the body of its row, without the place of the values
};

struct run_end {                  // the end of an attempt, with its totals
    std::uint8_t how = 0;         // spotter::ending
    std::string_view why{};       // the failure, or the first error; may be empty
    std::uint64_t refused = 0;    // refused observations
    std::uint64_t stored = 0;     // observations and scalars in the record
    std::uint64_t dropped = 0;    // observations and scalars lost whole
    std::uint64_t thinned = 0;    // observations that lost their values
    std::uint64_t closes = 0;     // steps closed
    double time = 0;              // seconds since 1970
    std::uint64_t coverages = 0;  // number of entries in `list`; use read_coverage
    byte_view list{};             // the coverages
};

// The loop was in a section for that long without leaving it, or its process ended in it.
struct stay {
    double time = 0;             // of the check
    double seconds = 0;          // at least; 0: written by a recovery
    std::string_view section{};  // path: `outer/inner`
};

}  // namespace rows

// The element size of payload planes; for complex numbers the size of a part.
[[nodiscard]] constexpr std::size_t plane_width(dtype type) noexcept {
    return is_complex(type) ? size_of(type) / 2 : size_of(type);
}
// Whether values of that type can have this form.
[[nodiscard]] constexpr bool has_form(dtype type, payload_form form) noexcept {
    return type != dtype::none && form.known() && (form.planes() == 1 || form.planes() == plane_width(type));
}

namespace stored_terms {
// Bits of a stored summary's mask: its fields. The same values as spotter::terms, which belongs to stat.
inline constexpr std::uint32_t nonfinite = 1U << 0, zeros = 1U << 1, range = 1U << 2, abs_range = 1U << 3,
                               sum = 1U << 4, sum_abs = 1U << 5, sum_squares = 1U << 6, variance = 1U << 7,
                               product = 1U << 8, delta = 1U << 9, hash = 1U << 10, all = (1U << 11) - 1;
}  // namespace stored_terms

}  // namespace spotter::inline SPOTTER_ABI
