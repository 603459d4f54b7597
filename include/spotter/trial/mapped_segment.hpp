// SPDX-License-Identifier: Apache-2.0
// Trial (L4): one segment in memory: where its row frames are, and the rows of steps in them.
#pragma once

#include <spotter/file/file_system.hpp>
#include <spotter/format/record.hpp>
#include <spotter/format/sidecar.hpp>
#include <spotter/stat/summary.hpp>
#include <spotter/trial/entry_list.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// The disk's own trouble, which says nothing of what is there; a missing file and a path that cannot be do.
[[nodiscard]] inline bool is_trouble(error const& why) noexcept {
    return why && why.code != errc::not_a_run && why.code != errc::unwritable;
}

// take(writer's id, how often) for all that is in a dense row; false where it is not dense.
template <class Take>
[[nodiscard]] bool each_of_dense(steps_outline const& row, Take&& take) {
    if (!row.is_dense()) { return false; }
    std::map<tensor_id, std::uint64_t> counts;
    row.each_id([&](tensor_id local, bool, std::uint64_t steps) { counts[local] += steps; });
    for (auto const& [local, count] : counts) { take(local, count); }
    return true;
}

}  // namespace detail

// Owns nothing but memory: `release` gives the mapping back.
class mapped_segment {
public:
    // Takes in what has been written since the last call: groups as the sidecar says, those behind its last place as they are met.
    // A failed call changes nothing.
    [[nodiscard]] error extend(file_system& files, std::string const& name, std::string const& side_name) {
        if (superseded_) { return {}; }
        result<std::uint64_t> const size = files.size_of(name);
        if (!size && detail::is_trouble(size.error())) { return size.error(); }
        if (size && *size != mapping_.bytes.size()) {
            result<file_mapping> const fresh = files.map(name);
            if (!fresh) { return fresh.error(); }
            superseded_ = !bytes().empty() && is_thinned(fresh->bytes) && !is_thinned(bytes());
            files.unmap(superseded_ ? *fresh : mapping_);
            if (superseded_) { return {}; }
            mapping_ = *fresh;
        }
        if (known_to_ == 0 && skip_ == 0) { take_sidecar(files, side_name); }
        std::size_t const known = groups_.size();
        frame_walker walker{bytes(), known_to_};
        for (walked what = walker.next(); what != walked::end; what = walker.next()) {
            if (what == walked::head && walker.head_error()) {
                foreign_ = true;
                return {};
            }
            if (what != walked::rows) { continue; }
            if (skip_ > 0) {
                --skip_;
                continue;
            }
            if (groups_.size() == known || !groups_.back().takes(walker.frame().offset)) { groups_.emplace_back(); }
            groups_.back().add(walker.frame());
        }
        known_to_ = walker.good_end();
        return {};
    }
    // Goes on where `before` ended: of the same segment, which was thinned since it was mapped. Its frames are the same.
    void go_on_from(mapped_segment const& before) noexcept {
        for (side_place const& each : before.groups_) { skip_ += each.frames; }
    }
    void release(file_system& files) noexcept {
        files.unmap(mapping_);
        mapping_ = {};
    }

    [[nodiscard]] byte_view bytes() const noexcept { return mapping_.bytes; }
    // The file is another one now, without the values; this mapping keeps the old one.
    [[nodiscard]] bool superseded() const noexcept { return superseded_; }
    // All its row frames are known.
    [[nodiscard]] bool whole() const noexcept {
        return !groups_.empty() && (groups_.back().flags & layout::last_of_segment) != 0;
    }
    // Of another format version: nothing of it is read.
    [[nodiscard]] bool foreign() const noexcept { return foreign_; }
    // Its last row frame is there and says that it is; known once it was surveyed, as is its end.
    [[nodiscard]] bool closed() const noexcept { return closed_; }
    [[nodiscard]] std::uint64_t surveyed_to() const noexcept { return surveyed_to_; }
    // It says how far a ring in shared memory is in it: so what a recovery wrote, which goes on from a segment without an end.
    [[nodiscard]] bool has_marks() const noexcept {
        for (side_place const& group : groups_) {
            frame_walker walker = frames_of(group);
            for (walked what = walker.next(); what != walked::end; what = walker.next()) {
                if (what != walked::rows) { continue; }
                bool restates = true;
                row_reader rows{walker.frame().body};
                for (row_view row; rows.next(row);) {
                    if (row.kind == row_kind::drained) { return true; }
                    restates = restates && (row.kind == row_kind::run_begin || row.kind == row_kind::declare);
                }
                if (!restates) { return false; }  // every other frame has a mark, or none has
            }
        }
        return false;
    }
    [[nodiscard]] std::uint64_t next_ordinal() const noexcept {
        return groups_.empty() ? 0 : groups_.back().first_ordinal + groups_.back().closes;
    }
    // What stands behind the places of the sidecar; asked for once.
    [[nodiscard]] std::vector<std::byte> take_beside() noexcept { return std::move(beside_); }
    // Of row frames, all that there are, in order.
    [[nodiscard]] std::vector<side_place> const& groups() const noexcept { return groups_; }
    [[nodiscard]] frame_walker frames_of(side_place const& group, std::uint64_t from = 0) const noexcept {
        return frame_walker{bytes().first(static_cast<std::size_t>(group.end)), (std::max)(group.offset, from)};
    }

    // The rows of steps in a group: take_value(writer's id, entry), take_close(step, ordinal, time), take_ordinal(of what comes next)
    // at the start of each frame and behind each close, malformed(body). take_steps(outline, place) for each steps row, with all its
    // closes: false if the values in it are to come one by one.
    template <class Value, class Steps, class Close, class Ordinal, class Malformed>
    void each_value(std::uint32_t number, side_place const& group, Value&& take_value, Steps&& take_steps,
                    Close&& take_close, Ordinal&& take_ordinal, Malformed&& malformed) const {
        frame_walker walker = frames_of(group);
        for (walked what = walker.next(); what != walked::end; what = walker.next()) {
            if (what != walked::rows) { continue; }
            std::uint64_t ordinal = walker.frame().first_ordinal;
            take_ordinal(ordinal);
            for (byte_reader in{walker.frame().body}; in.left() > 0;) {
                auto const kind = static_cast<row_kind>(in.fixed<std::uint8_t>());
                byte_view const body = in.raw(in.varint());
                if (in.bad()) { break; }
                row_place place{number, static_cast<std::uint32_t>(body.size()),
                                static_cast<std::uint64_t>(body.data() - bytes().data())};
                if (kind == row_kind::steps) {
                    steps_outline const outline{body};
                    if (outline.lacks_memory()) { detail::say_no_memory(); }
                    bool const done = take_steps(outline, place) || outline.rows() == 0;
                    steps_reader steps{done ? byte_view{} : body};
                    for (place.part = 0; steps.next(); ++place.part) {
                        packed_row const& row = steps.row();
                        if (row.kind == row_kind::close) { continue; }
                        bool const scalar = row.kind == row_kind::scalar;
                        take_value(row.id, track_entry{row.step, row.ordinal, place, scalar, false, scalar});
                    }
                    if (outline.steps() > 0) { take_ordinal(ordinal = outline.first_ordinal() + outline.steps()); }
                    if (outline.bad()) { malformed(body); }
                } else if (kind == row_kind::close) {
                    rows::close closed;
                    if (decode({kind, body}, closed)) {
                        malformed(body);
                        continue;
                    }
                    take_close(closed.step, closed.ordinal, closed.time);
                    take_ordinal(ordinal = closed.ordinal + 1);
                } else if (kind == row_kind::observe) {
                    rows::observe seen;
                    summary stats;
                    if (decode({kind, body}, seen, stats)) {
                        malformed(body);
                        continue;
                    }

                    take_value(seen.id, track_entry{seen.step, ordinal, place, false, false, seen.has_values});
                } else if (rows::feature made; kind == row_kind::feature) {  // of the observation behind it
                    if (decode({kind, body}, made)) { malformed(body); }
                } else if (kind == row_kind::scalar) {
                    rows::scalar value;
                    if (decode({kind, body}, value)) {
                        malformed(body);
                        continue;
                    }

                    take_value(value.id, track_entry{value.step, ordinal, place, true, !value.has_step, true});
                }
            }
        }
    }
    // Those of some tensors: is_wanted(writer's id), take(entry).
    template <class Wanted, class Take>
    void each_entry(std::uint32_t number, side_place const& group, Wanted const& is_wanted, Take const& take) const {
        each_value(
            number, group,
            [&](tensor_id local, track_entry const& entry) {
                if (is_wanted(local)) { take(entry); }
            },
            [&](steps_outline const& row, row_place const& at) {
                return detail::each_of_dense(row, [&](tensor_id local, std::uint64_t) {
                    if (!is_wanted(local)) { return; }
                    steps_outline::rows_of rows{row, local};
                    for (steps_outline::found_row it; rows.next(it);) { take(entry_of(row, at, it)); }
                });
            },
            [](step_id, std::uint64_t, double) {}, [](std::uint64_t) {}, [](byte_view) {});
    }

    // Damage that has not been met yet: take(frame_place). Looks at every frame, at values but for their checksums too.
    template <class Take>
    void survey(Take&& take) {
        if (foreign_ || superseded_ || surveyed_to_ == bytes().size()) { return; }
        frame_walker walker{bytes(), surveyed_to_};
        for (walked what = walker.next(); what != walked::end; what = walker.next()) {
            if (what == walked::corrupt) { take(walker.damage()); }
            if (what == walked::rows) { closed_ = (walker.frame().flags & layout::last_of_segment) != 0; }
        }
        surveyed_to_ = walker.good_end();
    }

private:
    // As far as its places are whole and follow one another. The segment's head has to be sound.
    void take_sidecar(file_system& files, std::string const& name) {
        if (bytes().size() < layout::head_bytes || !decode_head(bytes())) { return; }
        result<file_mapping> const side = files.map(name);
        if (!side) { return; }
        std::uint64_t end = layout::head_bytes, i = 0;
        for (;; ++i) {
            result<side_place> const place = decode_side_place(side->bytes, i, bytes().size());
            if (!place || place->previous_end != end || place->frames == 0) { break; }
            bool const of_thinned = (place->flags & layout::thinned_segment) != 0;
            if (of_thinned != is_thinned(bytes())) { break; }  // the segment was thinned between the two looks
            groups_.push_back(*place);
            known_to_ = end = place->end;
        }
        byte_view const rest = side->bytes.subspan(static_cast<std::size_t>(i) * layout::place_bytes);
        bool const some = rest.size() > sizeof(std::uint32_t) && load<std::uint32_t>(rest.data()) == layout::row_magic;
        if (some) { beside_.assign(rest.begin(), rest.end()); }
        files.unmap(*side);
    }

    // By its first row frame.
    [[nodiscard]] static bool is_thinned(byte_view segment) noexcept {
        constexpr std::size_t flags = layout::head_bytes + 44;
        return segment.size() >= layout::head_bytes + layout::row_head_bytes &&
               load<std::uint32_t>(segment.data() + layout::head_bytes) == layout::row_magic &&
               (load<std::uint32_t>(segment.data() + flags) & layout::thinned_segment) != 0;
    }

    file_mapping mapping_{};
    std::vector<side_place> groups_{};
    std::vector<std::byte> beside_{};
    std::uint64_t known_to_ = 0;  // the end of the last of them
    std::uint64_t skip_ = 0;      // row frames that are known from an older mapping
    bool superseded_ = false;
    bool foreign_ = false;
    bool closed_ = false;
    std::uint64_t surveyed_to_ = 0;  // up to here damage is known
};

}  // namespace spotter::inline SPOTTER_ABI
