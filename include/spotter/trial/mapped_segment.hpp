// SPDX-License-Identifier: Apache-2.0
// Trial (L4): one segment in memory: where its row frames are, and the rows of steps in them.
#pragma once

#include <spotter/format/sidecar.hpp>
#include <spotter/format/step_times.hpp>
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
    std::uint64_t offset = 0;  // of the rows behind it, or of the end
    bool exact = false;        // the sidecar says of which steps:
    step_span steps[3]{};      // by mode
    // Of something of which the beginning is there: the indices rise from there on, as far as the closings before
    // this ordinal (0: that is not known) have room.
    bool begun = false;
    std::uint64_t end_ordinal = 0;

    void add(step_span const* spans) noexcept;
};

// Whose a sidecar is, by what stands behind its places; none where it does not say.
[[nodiscard]] std::optional<rows::run_begin> side_owner(byte_view beside) noexcept;

// Owns nothing but memory: `release` gives the mapping back.
//
// A mapped file that somebody shortens ends the process that touches what is gone, and spotter installs no signal
// handler. So nothing of ours shortens a segment in place (`spotter recover --cut` puts a shorter copy in its place),
// and a reader looks at the size before it reads: `guard`. What remains is a stranger who truncates a segment within
// the microseconds between the look and the reading.
class mapped_segment {
public:
    // Takes in what has been written since the last call: groups as the sidecar says (the file, or `merged`, its bytes
    // from elsewhere), those behind its last place as they are met. A failed call changes nothing; errc::replaced: the
    // file is of another run, or has no longer what was read of it. `number` and `run_id` (0: any) are what its head
    // says if it belongs here.
    [[nodiscard]] error extend(file_system& files, std::string const& name, std::string const& side_name,
                               byte_view merged, std::uint32_t number, std::uint64_t run_id);
    // Looks whether the file has become shorter, and reads no more than it still has.
    void guard(file_system& files, std::string const& name) noexcept;
    // Goes on where `before` ended: of the same segment, which was thinned since it was mapped. Its frames are the
    // same.
    void go_on_from(mapped_segment const& before) noexcept;
    // Gives the mapping back; nothing may be read afterwards.
    void release(file_system& files) noexcept;

    // What may be read of it, as of the last `extend` or `guard`.
    [[nodiscard]] byte_view bytes() const noexcept { return mapping_.bytes.first(readable_); }
    // Nothing where it is damaged, or not written yet.
    [[nodiscard]] std::optional<segment_head> const& head() const noexcept { return head_; }
    // In order.
    [[nodiscard]] std::vector<lost_place> const& lost() const noexcept { return lost_; }
    // The file is another one now, without the values; this mapping keeps the old one.
    [[nodiscard]] bool superseded() const noexcept { return superseded_; }
    // All its row frames are known.
    [[nodiscard]] bool whole() const noexcept;
    // Nothing of it is read: it is of another format version, or a stray, of another run or another number.
    [[nodiscard]] bool foreign() const noexcept { return foreign_ || stray_; }
    // The latter of the two.
    [[nodiscard]] bool stray() const noexcept { return stray_; }
    // Its last row frame is there and says that it is; known once it was surveyed, as is its end.
    [[nodiscard]] bool closed() const noexcept { return closed_; }
    // How far every frame was looked at.
    [[nodiscard]] std::uint64_t surveyed_to() const noexcept { return surveyed_to_; }
    // It says how far a ring in shared memory is in it: so what a recovery wrote, which goes on from a segment without
    // an end.
    [[nodiscard]] bool has_marks() const;
    // It ends in the beginning of the row frame that closed it (frame_walker::torn_end). Not where the sidecar tells of
    // what that held.
    [[nodiscard]] bool has_torn_end() const noexcept { return torn_end_ && !superseded_ && !end_told_; }
    // The sidecar knows of rows behind the end.
    [[nodiscard]] bool end_told() const noexcept { return end_told_; }
    // Of the step that closes next behind it, as far as it says.
    [[nodiscard]] std::uint64_t next_ordinal() const noexcept;
    // What stands behind the places of the sidecar, until it was taken in.
    [[nodiscard]] byte_view beside() const noexcept { return beside_; }
    // It was.
    void forget_beside() noexcept { beside_ = {}; }
    // Of row frames, all that there are, in order.
    [[nodiscard]] std::vector<side_place> const& groups() const noexcept { return groups_; }
    // The row frames of a group, from an offset in the segment on.
    [[nodiscard]] frame_walker frames_of(side_place const& group, std::uint64_t from = 0) const;
    // Brings what is about to be read from far away, if that is where the file is: bytes, and all groups from one on.
    [[nodiscard]] error fetch(std::uint64_t offset, std::uint64_t size) const noexcept;
    // Throws `failure` where they cannot be brought.
    void fetch_groups(std::size_t first) const;

    // The rows of steps in a group: take_value(writer's id, entry), take_close(step, ordinal, time), take_ordinal(of
    // what comes next) at the start of each frame and behind each close, malformed(body), lost(offset, whether it is
    // at the end) of frames that cannot be read. take_steps(outline, place) for each steps row, with all its
    // closes: false if the values in it are to come one by one. take_times(first ordinal, steps, place) for each row of
    // their times.
    template <class Value, class Steps, class Close, class Times, class Ordinal, class Malformed, class Lost>
    void each_value(std::uint32_t number, side_place const& group, Value&& take_value, Steps&& take_steps,
                    Close&& take_close, Times&& take_times, Ordinal&& take_ordinal, Malformed&& malformed,
                    Lost&& lost) const {
        frame_walker walker = frames_of(group);
        std::uint32_t frames = 0;
        for (walked what = walker.next(); what != walked::end; what = walker.next()) {
            if (what == walked::corrupt) { lost(walker.damage().offset, false); }
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
                } else if (kind == row_kind::times) {
                    times_reader const times{body};
                    times.bad() ? malformed(body) : take_times(times.first_ordinal(), times.count(), place);
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
        if (frames < group.frames) { lost(walker.good_end(), true); }
    }

    // Damage that has not been met yet: take(frame_place). Looks at every frame, at values but for their checksums too.
    template <class Take>
    void survey(Take&& take) {
        if (foreign() || superseded_ || surveyed_to_ == bytes().size()) { return; }
        if (mapping_.partial) {  // values are not brought for their frames' heads alone
            fetch_groups(0);
            for (side_place const& group : groups_) {
                if (group.offset >= surveyed_to_) { survey_from(frames_of(group), take); }
            }
        } else {
            survey_from(frame_walker{bytes(), surveyed_to_}, take);
        }
    }

private:
    template <class Take>
    void survey_from(frame_walker walker, Take& take) {
        for (walked what = walker.next(); what != walked::end; what = walker.next()) {
            if (what == walked::corrupt) { take(walker.damage()); }
            if (what == walked::rows) { closed_ = (walker.frame().flags & layout::last_of_segment) != 0; }
        }
        surveyed_to_ = walker.good_end();
    }
    // The frames behind what is known.
    void walk_on();
    // Where the file is another one now, or has grown.
    [[nodiscard]] error take_mapping(file_system& files, std::string const& name);
    // Not the file of which something is known, nor a copy of it that has grown, or was thinned.
    [[nodiscard]] bool is_another(byte_view fresh) const noexcept;
    [[nodiscard]] static error another_run() noexcept;
    void take_head(std::uint32_t number, std::uint64_t run_id) noexcept;

    // As far as its places are whole and follow one another. The segment's head has to be sound.
    void take_sidecar(file_system& files, std::string const& name, byte_view merged, std::string const& segment);
    void take_places(file_system& files, byte_view side, std::string const& segment);
    // Else the sidecar is of another segment, such as the one whose place this took, or the segment is damaged there.
    [[nodiscard]] bool belongs(side_place const& place) const;
    // Any of the groups does, the last one first; all that are damaged say nothing.
    [[nodiscard]] bool any_belongs() const;
    // A place is written after its rows, so one beyond the end of the segment says that this was cut.
    void take_lost_end(file_system& files, std::string const& segment, byte_view side, std::uint64_t i,
                       std::uint64_t end);

    // By its first row frame.
    [[nodiscard]] static bool is_thinned(byte_view segment) noexcept;

    void demand(std::uint64_t offset, std::uint64_t size) const;

    file_mapping mapping_{};
    file_system* files_ = nullptr;  // of the mapping
    std::size_t readable_ = 0;      // bytes of it
    std::uint64_t identity_ = 0;    // of the file, when it was last looked at; and its size then:
    std::uint64_t looked_at_ = 0;
    std::optional<segment_head> head_{};
    std::byte head_bytes_[layout::head_bytes]{};
    std::uint64_t tail_ = 0;  // the last bytes of what is known
    std::vector<lost_place> lost_{};
    std::vector<lost_place> told_{};  // what the sidecar knows behind the end, until it is one of these
    std::vector<side_place> groups_{};
    std::vector<std::byte> beside_{};
    std::uint64_t known_to_ = 0;  // the end of the last of them
    std::uint64_t skip_ = 0;      // row frames that are known from an older mapping
    bool superseded_ = false;
    bool has_head_ = false;
    bool foreign_ = false;
    bool stray_ = false;
    bool closed_ = false;
    bool end_told_ = false;  // the sidecar knows more rows than there are
    bool torn_end_ = false;
    std::uint64_t surveyed_to_ = 0;  // up to here damage is known
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/trial/mapped_segment.ipp>
#endif
