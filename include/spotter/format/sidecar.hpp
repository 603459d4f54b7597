// SPDX-License-Identifier: Apache-2.0
// Format (L1): the sidecar: where groups of row frames are, and of which steps, 112 bytes each. A cache; the segment alone can rebuild it.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/format/steps_reader.hpp>
#include <spotter/format/walker.hpp>

namespace spotter::inline SPOTTER_ABI {

// The step indices of one mode that rows speak of; empty where first > last.
struct step_span {
    std::uint64_t first = ~std::uint64_t{0};
    std::uint64_t last = 0;

    void add(std::uint64_t index) noexcept {
        first = index < first ? index : first;
        last = index > last ? index : last;
    }
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
    std::uint64_t offset = 0;
    std::uint64_t end = 0;
    std::uint64_t previous_end = 0;   // where the row frame before it ends: so a missing place is noticed
    std::uint64_t first_ordinal = 0;  // closes before it
    std::uint32_t closes = 0;
    std::uint32_t frames = 0;
    std::uint32_t rows = 0;
    std::uint32_t values = 0;  // observations and scalars
    std::uint32_t flags = 0;   // layout::has_declares and so on, of any frame in it
    step_span spans[3]{};      // of each mode

    // Whether a frame at this offset still belongs to it.
    [[nodiscard]] bool takes(std::uint64_t frame_offset) const noexcept {
        return frames == 0 || (frame_offset == end && end - offset < layout::place_rows_bytes);
    }
    void add(row_frame const& frame) noexcept {
        if (frames == 0) {
            offset = frame.offset;
            previous_end = frame.previous_end;
            first_ordinal = frame.first_ordinal;
        }
        end = frame.end();
        closes += frame.closes;
        ++frames;
        rows += frame.rows;
        values += frame.values;
        flags |= frame.flags;
        detail::each_step(frame.body,
                          [&](step_id step) { spans[static_cast<std::size_t>(step.mode)].add(step.index); });
    }
    // A row that speaks of this step may be in it.
    [[nodiscard]] bool may_hold(step_id step) const noexcept {
        return spans[static_cast<std::size_t>(step.mode)].holds(step.index);
    }
};

inline void encode_side_place(side_place const& place, std::byte* into) noexcept {
    byte_writer out{into, layout::place_bytes};
    out.fixed(layout::place_magic);
    out.fixed(place.frames);
    out.fixed(place.offset);
    out.fixed(place.end);
    out.fixed(place.previous_end);
    out.fixed(place.first_ordinal);
    out.fixed(place.closes);
    out.fixed(place.rows);
    out.fixed(place.values);
    out.fixed(place.flags);
    for (step_span const& each : place.spans) {
        out.fixed(each.first);
        out.fixed(each.last);
    }
    out.fixed(checksum(out.view()));
}

// Place `index` of a sidecar, if it is there, whole, and within a segment of `segment_bytes`.
[[nodiscard]] inline result<side_place> decode_side_place(byte_view side, std::uint64_t index,
                                                          std::uint64_t segment_bytes) noexcept {
    if (index >= side.size() / layout::place_bytes) {
        return {errc::no_more_data, "the sidecar has no such place; walk the segment from the end of the last one"};
    }
    byte_view const bytes = side.subspan(static_cast<std::size_t>(index) * layout::place_bytes, layout::place_bytes);
    byte_reader in{bytes};
    side_place place{};
    auto const magic = in.fixed<std::uint32_t>();
    place.frames = in.fixed<std::uint32_t>();
    place.offset = in.fixed<std::uint64_t>();
    place.end = in.fixed<std::uint64_t>();
    place.previous_end = in.fixed<std::uint64_t>();
    place.first_ordinal = in.fixed<std::uint64_t>();
    place.closes = in.fixed<std::uint32_t>();
    place.rows = in.fixed<std::uint32_t>();
    place.values = in.fixed<std::uint32_t>();
    place.flags = in.fixed<std::uint32_t>();
    for (step_span& each : place.spans) {
        each.first = in.fixed<std::uint64_t>();
        each.last = in.fixed<std::uint64_t>();
    }
    bool const sound =
        magic == layout::place_magic && in.fixed<std::uint64_t>() == checksum(bytes.first(layout::place_bytes - 8));
    if (!sound || place.previous_end > place.offset || place.offset > place.end || place.end > segment_bytes) {
        return {errc::corrupt, "a place of the sidecar is damaged; the segment holds everything, walk it instead"};
    }
    return place;
}

// What a closed segment declares, once more behind the places of its sidecar: row frames, the offsets of which count from where
// the places end. A run_begin comes first and says whose they are.
class side_declarations {
public:
    explicit side_declarations(byte_buffer& out) noexcept : out_{out} {}

    // False where memory is exhausted.
    [[nodiscard]] bool put(row_kind kind, byte_view body) noexcept {
        bool const full =
            !rows_.empty() && rows_.size() + 1 + varint_limit + body.size() > layout::row_frame_target;
        return (!full || seal()) && rows_.add(kind, body);
    }
    // After the last row.
    [[nodiscard]] bool seal() noexcept {
        byte_view const bytes = rows_.seal(offset_, offset_, 0);
        if (bytes.empty() || !out_.append(bytes)) { return false; }
        offset_ += bytes.size();
        rows_.reset();
        return true;
    }

private:
    byte_buffer& out_;
    row_frame_builder rows_;
    std::uint64_t offset_ = 0;
};

// How many places a sidecar has, damaged ones too: up to where the declarations begin.
[[nodiscard]] inline std::uint64_t side_places(byte_view side) noexcept {
    std::uint64_t const most = side.size() / layout::place_bytes;
    std::uint64_t count = 0;
    while (count < most && load<std::uint32_t>(side.data() + count * layout::place_bytes) != layout::row_magic) { ++count; }
    return count;
}

// The declarations behind the places of a sidecar, of which `rest` is what follows those, and the run_begin before them:
// take(row_view), where they belong to the run and the attempt of the segment.
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
    declared_rows(byte_view segment, byte_view older) noexcept : segment_bytes_{segment.size()} {
        byte_view const rest = older.subspan(static_cast<std::size_t>(side_places(older)) * layout::place_bytes);
        each_side_declaration(rest, segment, [this](row_view row) { take(row.kind, row.body); });
    }
    void take(row_frame const& frame) noexcept {
        last_ = (frame.flags & layout::last_of_segment) != 0;
        for (byte_reader in{frame.body}; in.left() > 0 && (frame.flags & layout::has_declares) != 0;) {
            auto const kind = static_cast<row_kind>(in.fixed<std::uint8_t>());
            take(kind, in.raw(in.varint()));
        }
    }
    void take(row_kind kind, byte_view body) noexcept {
        if (kind == row_kind::run_begin) { begin_ = body; }
        if (kind != row_kind::declare || body.empty()) { return; }
        std::uint64_t const id = byte_reader{body}.varint();
        if (id >= segment_bytes_) { return; }  // a segment declares every id below its largest: this is none
        failed_ = failed_ || !list_.grow(static_cast<std::size_t>(id) + 1);
        if (!failed_) { list_[static_cast<std::size_t>(id)] = body; }
        any_ = true;
    }
    // False where memory is exhausted.
    [[nodiscard]] bool put(byte_buffer& out) noexcept {
        if (!any_ || !last_) { return true; }
        side_declarations side{out};
        bool good = !failed_ && side.put(row_kind::run_begin, begin_);
        for (byte_view const each : list_) { good = good && (each.empty() || side.put(row_kind::declare, each)); }
        return good && side.seal();
    }

private:
    std::size_t segment_bytes_;
    slots<byte_view> list_{};
    byte_view begin_{};
    bool any_ = false, last_ = false, failed_ = false;
};

}  // namespace detail

// The sidecar of a segment, from the segment alone. Damaged ranges end a group. What the segment has lost of its declarations stands in
// the `older` sidecar, perhaps.
[[nodiscard]] inline error rebuild_sidecar(byte_view segment, byte_buffer& out, byte_view older = {}) noexcept {
    frame_walker walk{segment};
    side_place const none{};  // g++ 12 fails on one made in the lambda
    side_place group = none;
    detail::declared_rows declared{segment, older};
    auto const put = [&] {
        std::byte bytes[layout::place_bytes];
        encode_side_place(group, bytes);
        if (group.frames > 0) { (void)out.append({bytes, sizeof bytes}); }
        group = none;
    };
    for (walked what = walk.next(); what != walked::end; what = walk.next()) {
        if (what == walked::corrupt || (what == walked::rows && !group.takes(walk.frame().offset))) { put(); }
        if (what != walked::rows) { continue; }
        group.add(walk.frame());
        declared.take(walk.frame());
    }
    put();
    if (!declared.put(out) || out.failed()) {
        return {errc::out_of_memory, "no memory to rebuild a sidecar; the segment can be read without it"};
    }
    return {};
}

}  // namespace spotter::inline SPOTTER_ABI
