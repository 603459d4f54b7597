// SPDX-License-Identifier: Apache-2.0
// Trial (L4): one segment in memory: where its row frames are, and the rows of steps in them.
#pragma once

#include <spotter/format/sidecar.hpp>
#include <spotter/stat/summary.hpp>
#include <spotter/trial/entry_list.hpp>
#include <spotter/trial/segment_folder.hpp>

#include <map>
#include <optional>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

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

// Rows that are lost in front of others, or at the end of a segment.
struct lost_place {
    std::uint64_t offset = 0;
    bool exact = false;  // the sidecar says of which steps:
    step_span steps[3]{};
};

// Owns nothing but memory: `release` gives the mapping back.
//
// A mapped file that somebody shortens ends the process that touches what is gone, and spotter installs no signal handler. So nothing of
// ours shortens a segment in place (`spotter recover --cut` puts a shorter copy in its place), and a reader looks at the size
// before it reads: `guard`. What remains is a stranger who truncates a segment within the microseconds between the look and the reading.
class mapped_segment {
public:
    // Takes in what has been written since the last call: groups as the sidecar says, those behind its last place as they are met.
    // A failed call changes nothing; errc::replaced: the file is of another run, or has no longer what was read of it. `number` and
    // `run_id` (0: any) are what its head says if it belongs here.
    [[nodiscard]] error extend(file_system& files, std::string const& name, std::string const& side_name,
                               std::uint32_t number, std::uint64_t run_id) {
        if (error const why = take_mapping(files, name)) { return why; }
        if (superseded_) { return {}; }
        if (!has_head_ && bytes().size() >= layout::head_bytes) { take_head(number, run_id); }
        if (foreign()) { return {}; }
        if (known_to_ == 0 && skip_ == 0) { take_sidecar(files, side_name, name); }
        std::size_t const known = groups_.size();
        frame_walker walker{bytes(), known_to_};
        for (walked what = walker.next(); what != walked::end; what = walker.next()) {
            // A head alone holds no rows.
            if (what == walked::corrupt && walker.damage().offset + walker.damage().bytes > layout::head_bytes) {
                lost_.push_back({walker.damage().offset, false, {}});
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
        if (known_to_ >= sizeof tail_) { tail_ = load<std::uint64_t>(bytes().data() + known_to_ - sizeof tail_); }
        return {};
    }
    // Looks whether the file has become shorter, and reads no more than it still has.
    void guard(file_system& files, std::string const& name) noexcept {
        if (superseded_ || readable_ == 0) { return; }
        result<file_facts> const facts = files.facts_of(name);
        if (!facts || facts->identity != identity_ || facts->bytes >= readable_) { return; }
        readable_ = static_cast<std::size_t>(facts->bytes);
    }
    // Goes on where `before` ended: of the same segment, which was thinned since it was mapped. Its frames are the same.
    void go_on_from(mapped_segment const& before) noexcept {
        for (side_place const& each : before.groups_) { skip_ += each.frames; }
    }
    void release(file_system& files) noexcept {
        files.unmap(mapping_);
        mapping_ = {};
        readable_ = 0;
    }

    [[nodiscard]] byte_view bytes() const noexcept { return mapping_.bytes.first(readable_); }
    // Nothing where it is damaged, or not written yet.
    [[nodiscard]] std::optional<segment_head> const& head() const noexcept { return head_; }
    // In order.
    [[nodiscard]] std::vector<lost_place> const& lost() const noexcept { return lost_; }
    // The file is another one now, without the values; this mapping keeps the old one.
    [[nodiscard]] bool superseded() const noexcept { return superseded_; }
    // All its row frames are known.
    [[nodiscard]] bool whole() const noexcept {
        return !groups_.empty() && (groups_.back().flags & layout::last_of_segment) != 0;
    }
    // Nothing of it is read: it is of another format version, or a stray, of another run or another number.
    [[nodiscard]] bool foreign() const noexcept { return foreign_ || stray_; }
    [[nodiscard]] bool stray() const noexcept { return stray_; }
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
        std::size_t const end = (std::min)(static_cast<std::size_t>(group.end), bytes().size());
        return frame_walker{bytes().first(end), (std::max)(group.offset, from)};
    }

    // The rows of steps in a group: take_value(writer's id, entry), take_close(step, ordinal, time), take_ordinal(of what comes next)
    // at the start of each frame and behind each close, malformed(body), lost(offset) of frames that cannot be read.
    // take_steps(outline, place) for each steps row, with all its closes: false if the values in it are to come one by one.
    template <class Value, class Steps, class Close, class Ordinal, class Malformed, class Lost>
    void each_value(std::uint32_t number, side_place const& group, Value&& take_value, Steps&& take_steps,
                    Close&& take_close, Ordinal&& take_ordinal, Malformed&& malformed, Lost&& lost) const {
        frame_walker walker = frames_of(group);
        std::uint32_t frames = 0;
        for (walked what = walker.next(); what != walked::end; what = walker.next()) {
            if (what == walked::corrupt) { lost(walker.damage().offset); }
            if (what != walked::rows) { continue; }
            ++frames;
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
        if (frames < group.frames) { lost(walker.good_end()); }
    }

    // Damage that has not been met yet: take(frame_place). Looks at every frame, at values but for their checksums too.
    template <class Take>
    void survey(Take&& take) {
        if (foreign() || superseded_ || surveyed_to_ == bytes().size()) { return; }
        frame_walker walker{bytes(), surveyed_to_};
        for (walked what = walker.next(); what != walked::end; what = walker.next()) {
            if (what == walked::corrupt) { take(walker.damage()); }
            if (what == walked::rows) { closed_ = (walker.frame().flags & layout::last_of_segment) != 0; }
        }
        surveyed_to_ = walker.good_end();
    }

private:
    // Where the file is another one now, or has grown.
    [[nodiscard]] error take_mapping(file_system& files, std::string const& name) {
        result<file_facts> const facts = files.facts_of(name);
        if (!facts) { return detail::is_trouble(facts.error()) ? facts.error() : error{}; }
        if (facts->identity == identity_ && facts->bytes == looked_at_) {
            return is_another(bytes()) ? another_run() : error{};
        }
        result<file_mapping> const fresh = files.map(name);
        if (!fresh) { return fresh.error(); }
        if (is_another(fresh->bytes)) {
            files.unmap(*fresh);
            return another_run();
        }
        identity_ = facts->identity;
        looked_at_ = facts->bytes;
        superseded_ = superseded_ || (!bytes().empty() && is_thinned(fresh->bytes) && !is_thinned(bytes()));
        files.unmap(superseded_ ? *fresh : mapping_);
        if (superseded_) { return {}; }
        mapping_ = *fresh;
        readable_ = mapping_.bytes.size();
        return {};
    }
    // Not the file of which something is known, nor a copy of it that has grown, or was thinned.
    [[nodiscard]] bool is_another(byte_view fresh) const noexcept {
        bool const thinned = superseded_ || (is_thinned(fresh) && !is_thinned(bytes()));
        if (fresh.size() < (thinned ? layout::head_bytes : known_to_)) { return true; }
        if (has_head_ && std::memcmp(fresh.data(), head_bytes_, sizeof head_bytes_) != 0) { return true; }
        return !thinned && known_to_ >= sizeof tail_ &&
               load<std::uint64_t>(fresh.data() + known_to_ - sizeof tail_) != tail_;
    }
    [[nodiscard]] static error another_run() noexcept {
        return {errc::replaced,
                "another run has taken the place of the one that was read: it is read from its beginning"};
    }
    void take_head(std::uint32_t number, std::uint64_t run_id) noexcept {
        has_head_ = true;
        std::memcpy(head_bytes_, bytes().data(), sizeof head_bytes_);
        auto const told = decode_head(bytes());
        foreign_ = told.error().code == errc::unknown_version;
        if (!told) { return; }
        head_ = *told;
        stray_ = told->number != number || (run_id != 0 && told->run_id != run_id);
    }

    // As far as its places are whole and follow one another. The segment's head has to be sound.
    void take_sidecar(file_system& files, std::string const& name, std::string const& segment) {
        if (!head_) { return; }
        result<file_mapping> const side = files.map(name);
        if (!side) { return; }
        byte_view const places =
            side->bytes.first(static_cast<std::size_t>(side_places(side->bytes)) * layout::place_bytes);
        byte_view const rest = side->bytes.subspan(places.size());
        bool const some = rest.size() > sizeof(std::uint32_t) && load<std::uint32_t>(rest.data()) == layout::row_magic;
        if (some && is_of_another(rest)) { return files.unmap(*side); }
        if (some) { beside_.assign(rest.begin(), rest.end()); }
        std::uint64_t end = layout::head_bytes, i = 0;
        for (;; ++i) {
            result<side_place> const place = decode_side_place(places, i, bytes().size());
            if (!place || place->previous_end != end || place->frames == 0) { break; }
            bool const of_thinned = (place->flags & layout::thinned_segment) != 0;
            if (of_thinned != is_thinned(bytes())) { break; }  // the segment was thinned between the two looks
            groups_.push_back(*place);
            known_to_ = end = place->end;
        }
        if (!groups_.empty() && !belongs(groups_.back())) {
            groups_.clear();
            known_to_ = 0;
        } else {
            take_lost_end(files, segment, places, i, end);
        }
        files.unmap(*side);
    }
    // What stands behind the places of a sidecar says whose they are.
    [[nodiscard]] bool is_of_another(byte_view beside) const noexcept {
        frame_walker walker{beside};
        if (walker.next() != walked::rows) { return false; }
        row_reader rows{walker.frame().body};
        row_view row;
        rows::run_begin begin;
        bool const told = rows.next(row) && row.kind == row_kind::run_begin && !decode(row, begin);
        return told && (begin.run_id != head_->run_id || begin.attempt != head_->attempt);
    }
    // Else the sidecar is of another segment, such as the one whose place this took, or the segment is damaged there.
    [[nodiscard]] bool belongs(side_place const& place) const noexcept {
        auto const frame = decode_row_frame(bytes(), place.offset);
        return frame && frame->first_ordinal == place.first_ordinal && frame->previous_end == place.previous_end &&
               frame->end() <= place.end;
    }
    // A place is written after its rows, so one beyond the end of the segment says that this was cut.
    void take_lost_end(file_system& files, std::string const& segment, byte_view side, std::uint64_t i,
                       std::uint64_t end) {
        lost_place missing{bytes().size(), true, {}};
        bool any = false;
        for (;; ++i) {
            result<side_place> const place = decode_side_place(side, i, ~std::uint64_t{0});
            bool const goes_on = place && place->previous_end == end && place->end > bytes().size() &&
                                 ((place->flags & layout::thinned_segment) != 0) == is_thinned(bytes());
            if (!goes_on) { break; }
            end = place->end;
            for (std::size_t m = 0; m < 3; ++m) {
                if (place->spans[m].first > place->spans[m].last) { continue; }
                missing.steps[m].add(place->spans[m].first);
                missing.steps[m].add(place->spans[m].last);
            }
            any = true;
        }
        if (!any) { return; }
        result<std::uint64_t> const now = files.size_of(segment);  // it may have grown since it was mapped
        if (now && *now < end) { lost_.push_back(missing); }
    }

    // By its first row frame.
    [[nodiscard]] static bool is_thinned(byte_view segment) noexcept {
        constexpr std::size_t flags = layout::head_bytes + 44;
        return segment.size() >= layout::head_bytes + layout::row_head_bytes &&
               load<std::uint32_t>(segment.data() + layout::head_bytes) == layout::row_magic &&
               (load<std::uint32_t>(segment.data() + flags) & layout::thinned_segment) != 0;
    }

    file_mapping mapping_{};
    std::size_t readable_ = 0;    // bytes of it
    std::uint64_t identity_ = 0;  // of the file, when it was last looked at; and its size then:
    std::uint64_t looked_at_ = 0;
    std::optional<segment_head> head_{};
    std::byte head_bytes_[layout::head_bytes]{};
    std::uint64_t tail_ = 0;  // the last bytes of what is known
    std::vector<lost_place> lost_{};
    std::vector<side_place> groups_{};
    std::vector<std::byte> beside_{};
    std::uint64_t known_to_ = 0;  // the end of the last of them
    std::uint64_t skip_ = 0;      // row frames that are known from an older mapping
    bool superseded_ = false;
    bool has_head_ = false;
    bool foreign_ = false;
    bool stray_ = false;
    bool closed_ = false;
    std::uint64_t surveyed_to_ = 0;  // up to here damage is known
};

}  // namespace spotter::inline SPOTTER_ABI
