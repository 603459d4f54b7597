// SPDX-License-Identifier: Apache-2.0
// Format (L1): the sidecar: the places and steps of groups of row frames, 112 bytes for each. A cache; it can be
// rebuilt from the segment.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/format/steps_reader.hpp>
#include <spotter/format/walker.hpp>

namespace spotter::inline SPOTTER_ABI {

// The range of step indices of one mode in some rows; empty if first > last.
struct step_span {
    std::uint64_t first = ~std::uint64_t{0};  // the smallest index
    std::uint64_t last = 0;                   // the largest index

    void add(std::uint64_t index) noexcept;  // in any order
    // Within the range; there need not be a row of that step.
    [[nodiscard]] bool holds(std::uint64_t index) const noexcept { return first <= index && index <= last; }
};

namespace detail {

// Calls take(step_id) for the first and the last step of the rows of a frame, and maybe for others.
template <class Take>
void each_step(byte_view rows, Take&& take) noexcept {
    for (byte_reader in{rows}; in.left() > 0;) {
        auto const kind = static_cast<row_kind>(in.fixed<std::uint8_t>());
        byte_reader body{in.raw(in.varint())};
        if (kind == row_kind::observe || kind == row_kind::scalar) {
            auto const bits = body.fixed<std::uint8_t>();
            (void)body.varint();
            if (kind == row_kind::scalar && (bits & layout::scalar_step) == 0) { continue; }
            step_id const step = take_step(body);
            if (!body.bad()) { take(step); }
        } else if (kind == row_kind::close) {
            step_id const step = take_step(body);
            if (!body.bad()) { take(step); }
        } else if (kind == row_kind::steps) {
            steps_reader::each_run(body, [&](step_id first, step_id last) {
                take(first);
                take(last);
            });
        }
    }
}

}  // namespace detail

// A group of adjacent row frames without payload in between.
struct side_place {
    std::uint64_t offset = 0;         // of its first row frame, in the segment
    std::uint64_t end = 0;            // end of its last frame
    std::uint64_t previous_end = 0;   // end of the row frame before it: shows a missing place
    std::uint64_t first_ordinal = 0;  // closes before it
    std::uint32_t closes = 0;         // in it, with packed ones
    std::uint32_t frames = 0;         // 0: empty
    std::uint32_t rows = 0;           // of all frames; a steps row is one
    std::uint32_t values = 0;         // observations and scalars
    std::uint32_t flags = 0;          // of all frames: layout::has_declares and so on
    step_span spans[3]{};             // for each mode

    // Whether a frame at this offset belongs to the group.
    [[nodiscard]] bool takes(std::uint64_t frame_offset) const noexcept;
    void add(row_frame const& frame) noexcept;  // a frame that takes() accepts; reads the steps of its rows
    // The group may hold a row of this step.
    [[nodiscard]] bool may_hold(step_id step) const noexcept;
};

// Writes layout::place_bytes, with the checksum.
void encode_side_place(side_place const& place, std::byte* into) noexcept;

// Place `index` of a sidecar, if it exists, is intact, and is within a segment of `segment_bytes`.
[[nodiscard]] result<side_place> decode_side_place(byte_view side, std::uint64_t index,
                                                   std::uint64_t segment_bytes) noexcept;

// Repeats the declarations of a closed segment behind the places of its sidecar, in row frames. Their offsets count
// from the end of the places. A run_begin comes first and identifies run and attempt.
class side_declarations {
public:
    explicit side_declarations(byte_buffer& out) noexcept : out_{out} {}

    // False where memory is exhausted.
    [[nodiscard]] bool put(row_kind kind, byte_view body) noexcept;
    // Call it after the last row.
    [[nodiscard]] bool seal() noexcept;

private:
    byte_buffer& out_;
    row_frame_builder rows_;
    std::uint64_t offset_ = 0;
};

// The number of places in a sidecar, with damaged ones: up to the declarations.
[[nodiscard]] std::uint64_t side_places(byte_view side) noexcept;

// Calls take(row_view) for the declarations of a sidecar, and the run_begin before them, if they belong to the
// segment's run and attempt. `rest`: the sidecar behind its places.
template <class Take>
void each_side_declaration(byte_view rest, byte_view segment, Take&& take) {
    if (rest.empty() || segment.size() < layout::head_bytes) { return; }
    auto const head = decode_head(segment);
    bool ours = false;
    frame_walker walk{rest};
    for (walked what = walk.next(); what != walked::end && head; what = walk.next()) {
        if (what != walked::rows) { continue; }
        for (byte_reader in{walk.frame().body}; in.left() > 0;) {
            row_view row{};
            row.kind = static_cast<row_kind>(in.fixed<std::uint8_t>());
            row.body = row.stored = in.raw(in.varint());
            rows::run_begin begin{};
            if (row.kind == row_kind::run_begin) {
                ours = !decode(row, begin) && begin.run_id == head->run_id && begin.attempt == head->attempt;
            }
            bool const known = row.kind == row_kind::run_begin || row.kind == row_kind::declare;
            if (ours && known && !in.bad()) { take(row); }
        }
    }
}

namespace detail {

// Collects the last declarations of a segment.
class declared_rows {
public:
    // The rows of the segment replace those of the `older` sidecar.
    declared_rows(byte_view segment, byte_view older) noexcept;
    void take(row_frame const& frame) noexcept;
    void take(row_kind kind, byte_view body) noexcept;
    // False where memory is exhausted.
    [[nodiscard]] bool put(byte_buffer& out) noexcept;

private:
    std::size_t segment_bytes_;
    slot_array<byte_view> list_{};
    byte_view begin_{};
    bool any_ = false, last_ = false, failed_ = false;
};

}  // namespace detail

// Rebuilds the sidecar of a segment. Damaged ranges end a group. Declarations that the segment has lost may be in the
// `older` sidecar.
[[nodiscard]] error rebuild_sidecar(byte_view segment, byte_buffer& out, byte_view older = {}) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/format/sidecar.ipp>
#endif
