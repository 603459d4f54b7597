// SPDX-License-Identifier: Apache-2.0
// Format (L1): the sidecar: where groups of row frames are, and of which steps, 112 bytes each. A cache; the segment
// alone can rebuild it.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/format/steps_reader.hpp>
#include <spotter/format/walker.hpp>

namespace spotter::inline SPOTTER_ABI {

// The step indices of one mode that rows speak of; empty where first > last.
struct step_span {
    std::uint64_t first = ~std::uint64_t{0};  // the smallest index
    std::uint64_t last = 0;                   // the largest index

    void add(std::uint64_t index) noexcept;  // in any order
    // Between the two; a row of it need not be there.
    [[nodiscard]] bool holds(std::uint64_t index) const noexcept { return first <= index && index <= last; }
};

namespace detail {

// The first and the last step of the rows of a frame, and maybe others: take(step_id).
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

// One group of row frames without payload between them: from the first byte of the first to the last byte of the last.
struct side_place {
    std::uint64_t offset = 0;         // of its first row frame, in the segment
    std::uint64_t end = 0;            // one past the last byte of its last frame
    std::uint64_t previous_end = 0;   // where the row frame before it ends: so a missing place is noticed
    std::uint64_t first_ordinal = 0;  // closes before it
    std::uint32_t closes = 0;         // in it, packed ones too
    std::uint32_t frames = 0;         // row frames; 0: none yet
    std::uint32_t rows = 0;           // rows of them all; a steps row is one
    std::uint32_t values = 0;         // observations and scalars
    std::uint32_t flags = 0;          // layout::has_declares and so on, of any frame in it
    step_span spans[3]{};             // of each mode

    // Whether a frame at this offset still belongs to it.
    [[nodiscard]] bool takes(std::uint64_t frame_offset) const noexcept;
    void add(row_frame const& frame) noexcept;  // one that it takes; reads which steps its rows speak of
    // A row that speaks of this step may be in it.
    [[nodiscard]] bool may_hold(step_id step) const noexcept;
};

// layout::place_bytes, its checksum included.
void encode_side_place(side_place const& place, std::byte* into) noexcept;

// Place `index` of a sidecar, if it is there, whole, and within a segment of `segment_bytes`.
[[nodiscard]] result<side_place> decode_side_place(byte_view side, std::uint64_t index,
                                                   std::uint64_t segment_bytes) noexcept;

// What a closed segment declares, once more behind the places of its sidecar: row frames, the offsets of which count
// from where the places end. A run_begin comes first and says whose they are.
class side_declarations {
public:
    explicit side_declarations(byte_buffer& out) noexcept : out_{out} {}

    // False where memory is exhausted.
    [[nodiscard]] bool put(row_kind kind, byte_view body) noexcept;
    // After the last row.
    [[nodiscard]] bool seal() noexcept;

private:
    byte_buffer& out_;
    row_frame_builder rows_;
    std::uint64_t offset_ = 0;
};

// How many places a sidecar has, damaged ones too: up to where the declarations begin.
[[nodiscard]] std::uint64_t side_places(byte_view side) noexcept;

// The declarations behind the places of a sidecar, of which `rest` is what follows those, and the run_begin before
// them: take(row_view), where they belong to the run and the attempt of the segment.
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

// The last declarations in a segment.
class declared_rows {
public:
    // Of what an older sidecar says, the rows in the segment are newer.
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

// The sidecar of a segment, from the segment alone. Damaged ranges end a group. What the segment has lost of its
// declarations stands in the `older` sidecar, perhaps.
[[nodiscard]] error rebuild_sidecar(byte_view segment, byte_buffer& out, byte_view older = {}) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/format/sidecar.ipp>
#endif
