// SPDX-License-Identifier: Apache-2.0
// Trial (L4): the segments in a run's folder, and one of them mapped: the places of its row frames, and their rows of
// steps.
#pragma once

#include <spotter/file/file_system.hpp>
#include <spotter/format/record.hpp>
#include <spotter/format/sidecar.hpp>
#include <spotter/format/step_times.hpp>
#include <spotter/stat/summary.hpp>
#include <spotter/trial/entry_list.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// An error of the disk, unlike a missing file or an invalid path, which show what the folder holds.
[[nodiscard]] bool is_trouble(error const& why) noexcept;

// The numbers in a folder's file names, ascending. `number_of` parses a name (format/names.hpp; negative: no number).
[[nodiscard]] error list_numbers(file_system& files, std::string_view folder,
                                 std::int64_t (*number_of)(std::string_view) noexcept,
                                 std::vector<std::uint32_t>& numbers);
[[nodiscard]] std::string segment_path(std::string const& folder, std::uint32_t number, char const* suffix);

}  // namespace detail

// The file names of a record; numbers ascending. Independent of the files' content.
struct record_names {
    std::vector<std::uint32_t> segments{}, sidecars{};
    bool lost = false;  // the file that records truncated ends exists
};

// The folder of one worker. Reads the folder at each call.
class segment_folder {
public:
    segment_folder(std::string_view path, file_system& files) : files_{&files}, path_{path} {}

    // The file system that reads it.
    [[nodiscard]] file_system& files() const noexcept { return *files_; }
    // The path of the folder.
    [[nodiscard]] std::string const& path() const noexcept { return path_; }
    // The path of a segment or its sidecar, by suffix.
    [[nodiscard]] std::string file_name(std::uint32_t number, char const* suffix) const;
    // Whether the folder holds a file of that name; error: the disk cannot tell.
    [[nodiscard]] result<bool> is_file(std::string const& name) const noexcept;
    // Reads the folder once.
    [[nodiscard]] error list(record_names& names) const;
    // Why it is not a run: there is no folder, or no valid segment in it.
    [[nodiscard]] error look() const;
    // Whether the file is a segment of that number and run (0: any): by its head or, if that is damaged, by its first
    // row frame.
    [[nodiscard]] result<bool> holds(std::uint32_t number, std::uint64_t run_id) const;

private:
    [[nodiscard]] error first_segment() const;
    [[nodiscard]] error unreadable(byte_view bytes) const noexcept;
    [[nodiscard]] error not_a_run(std::string_view why) const noexcept;

    file_system* files_;
    std::string path_;
};

namespace detail {

// Calls take(writer's id, count) for the tensors of a dense row; false if the row is not dense.
template <class Take>
[[nodiscard]] bool each_of_dense(steps_outline const& row, Take&& take) {
    if (!row.is_dense()) { return false; }
    std::map<tensor_id, std::uint64_t> counts;
    row.each_id([&](tensor_id local, bool, std::uint64_t steps) { counts[local] += steps; });
    for (auto const& [local, count] : counts) { take(local, count); }
    return true;
}

}  // namespace detail

// Lost rows before others, or at the end of a segment.
struct lost_place {
    std::uint64_t offset = 0;  // of the following rows, or of the segment's end
    bool exact = false;        // the sidecar shows the steps:
    step_span steps[3]{};      // by mode
    // The lost rows continue a frame whose beginning exists: indices increase from there on, as far as the closes up to
    // `end_ordinal` (0: unknown) fit.
    bool begun = false;
    std::uint64_t end_ordinal = 0;

    void add(step_span const* spans) noexcept;
};

// The run_begin in the part of a sidecar behind its places; none if there is none.
[[nodiscard]] std::optional<rows::run_begin> side_owner(byte_view beside) noexcept;

// Does not unmap in its destructor: call `release`.
//
// If a mapped file is truncated, the system kills a process that touches the missing part; spotter installs no signal
// handler. So spotter never truncates a segment (`spotter recover --cut` replaces it by a shorter copy), and a reader
// checks the size before it reads: `guard`. What remains is another program that truncates a segment in the
// microseconds between check and read.
class mapped_segment {
public:
    // Adds what was written since the last call. Groups come from the sidecar (its file, or `merged`, its bytes from
    // elsewhere), and behind its last place from a walk. A failed call changes nothing. errc::replaced: the file
    // belongs to another run, or has lost what was read of it. The head must have `number` and `run_id` (0: any).
    [[nodiscard]] error extend(file_system& files, std::string const& name, std::string const& side_name,
                               byte_view merged, std::uint32_t number, std::uint64_t run_id);
    // Checks whether the file has become shorter, and limits reads to the rest.
    void guard(file_system& files, std::string const& name) noexcept;
    // Continues where `before` ended: the same segment before it was thinned. It has the same frames.
    void go_on_from(mapped_segment const& before) noexcept;
    // Unmaps the file; no read may follow.
    void release(file_system& files) noexcept;

    // The readable bytes, as of the last `extend` or `guard`.
    [[nodiscard]] byte_view bytes() const noexcept { return mapping_.bytes.first(readable_); }
    // None if it is damaged, or not written yet.
    [[nodiscard]] std::optional<segment_head> const& head() const noexcept { return head_; }
    // In order.
    [[nodiscard]] std::vector<lost_place> const& lost() const noexcept { return lost_; }
    // The file was replaced by a thinned one; this mapping keeps the old one.
    [[nodiscard]] bool superseded() const noexcept { return superseded_; }
    // Its last row frame is known.
    [[nodiscard]] bool whole() const noexcept;
    // It is not read: another format version, or stray.
    [[nodiscard]] bool foreign() const noexcept { return foreign_ || stray_; }
    // The head has another run or another number.
    [[nodiscard]] bool stray() const noexcept { return stray_; }
    // Its last row frame exists and is marked as the last; known after survey().
    [[nodiscard]] bool closed() const noexcept { return closed_; }
    // Every frame up to here was checked.
    [[nodiscard]] std::uint64_t surveyed_to() const noexcept { return surveyed_to_; }
    // It records the position of a ring in shared memory. A recovery then continues in the next segment, and this one
    // has no end.
    [[nodiscard]] bool has_marks() const;
    // It ends in an incomplete frame that would have closed it (frame_walker::torn_end), and the sidecar does not show
    // what that frame held.
    [[nodiscard]] bool has_torn_end() const noexcept { return torn_end_ && !superseded_ && !has_rows_past_end_; }
    // The sidecar shows rows behind the end.
    [[nodiscard]] bool has_rows_past_end() const noexcept { return has_rows_past_end_; }
    // The ordinal of the next close behind it, as far as the segment shows.
    [[nodiscard]] std::uint64_t next_ordinal() const noexcept;
    // The part of the sidecar behind its places, until it was taken.
    [[nodiscard]] byte_view beside() const noexcept { return beside_; }
    // It was taken.
    void forget_beside() noexcept { beside_ = {}; }
    // All groups of row frames, in order.
    [[nodiscard]] std::vector<side_place> const& groups() const noexcept { return groups_; }
    // Walks the row frames of a group, from an offset in the segment on.
    [[nodiscard]] frame_walker frames_of(side_place const& group, std::uint64_t from = 0) const;
    // Values stand behind the last close of a group.
    [[nodiscard]] bool ends_open(side_place const& group) const;
    // Fetches bytes of a remote file before they are read; likewise all groups from `first` on.
    [[nodiscard]] error fetch(std::uint64_t offset, std::uint64_t size) const noexcept;
    // Throws `failure` if they cannot be fetched.
    void fetch_groups(std::size_t first) const;

    // Reads the rows of steps in a group, and calls
    //   take_value(writer's id, entry)
    //   take_steps(outline, place)      for each steps row with all its closes; false: pass its values one by one
    //   take_close(step, ordinal, time)
    //   take_times(first ordinal, steps, place)  for each row of their times
    //   take_ordinal(next ordinal)      at the start of each frame, and behind each close
    //   malformed(body)
    //   lost(offset, at_end)            for frames that cannot be read
    template <class Value, class Steps, class Close, class Times, class Ordinal, class Malformed, class Lost>
    void each_value(std::uint32_t number, side_place const& group, Value&& take_value, Steps&& take_steps,
                    Close&& take_close, Times&& take_times, Ordinal&& take_ordinal, Malformed&& malformed,
                    Lost&& lost) const {
        std::uint64_t ordinal = 0;
        auto const take_frame = [&](std::uint64_t first) { take_ordinal(ordinal = first); };
        auto const take_row = [&](row_kind kind, byte_view body) {
            row_place const place{number, static_cast<std::uint32_t>(body.size()),
                                  static_cast<std::uint64_t>(body.data() - bytes().data())};
            auto const read = [&](auto&... into) {
                bool const good = !decode({kind, body}, into...);
                if (!good) { malformed(body); }
                return good;
            };
            if (kind == row_kind::steps) {
                steps_outline const outline{body};
                each_packed_value(outline, body, place, take_value, take_steps);
                if (outline.steps() > 0) { take_ordinal(ordinal = outline.first_ordinal() + outline.steps()); }
                if (outline.bad()) { malformed(body); }
            } else if (kind == row_kind::close) {
                rows::close closed;
                if (!read(closed)) { return; }
                take_close(closed.step, closed.ordinal, closed.time);
                take_ordinal(ordinal = closed.ordinal + 1);
            } else if (kind == row_kind::observe) {
                rows::observe seen;
                summary stats;
                if (!read(seen, stats)) { return; }
                take_value(seen.id, track_entry{seen.step, ordinal, place, false, false, seen.has_values});
            } else if (kind == row_kind::times) {
                times_reader const times{body};
                times.bad() ? malformed(body) : take_times(times.first_ordinal(), times.count(), place);
            } else if (rows::feature made; kind == row_kind::feature) {  // belongs to the next observation
                (void)read(made);
            } else if (kind == row_kind::scalar) {
                rows::scalar value;
                if (!read(value)) { return; }
                take_value(value.id, track_entry{value.step, ordinal, place, true, !value.has_step, true});
            }
        };
        each_row(group, take_frame, take_row, lost);
    }

    // Finds new damage: take(frame_place). Checks every frame; of values not their checksums.
    template <class Take>
    void survey(Take&& take) {
        if (foreign() || superseded_ || surveyed_to_ == bytes().size()) { return; }
        if (mapping_.partial) {  // do not fetch values only to check the heads of their frames
            fetch_groups(0);
            for (side_place const& group : groups_) {
                if (group.offset >= surveyed_to_) { survey_from(frames_of(group), take); }
            }
        } else {
            survey_from(frame_walker{bytes(), surveyed_to_}, take);
        }
    }

private:
    // Calls take_frame(first ordinal) for each frame and take_row(kind, body) for each row in it.
    template <class Frame, class Row, class Lost>
    void each_row(side_place const& group, Frame const& take_frame, Row const& take_row, Lost& lost) const {
        frame_walker walker = frames_of(group);
        std::uint32_t frames = 0;
        for (walked what = walker.next(); what != walked::end; what = walker.next()) {
            if (what == walked::corrupt) { lost(walker.damage().offset, false); }
            if (what != walked::rows) { continue; }
            ++frames;
            take_frame(walker.frame().first_ordinal);
            for (byte_reader in{walker.frame().body}; in.left() > 0;) {
                auto const kind = static_cast<row_kind>(in.fixed<std::uint8_t>());
                byte_view const body = in.raw(in.varint());
                if (in.bad()) { break; }
                take_row(kind, body);
            }
        }
        if (frames < group.frames) { lost(walker.good_end(), true); }
    }
    // Calls take_value for each value of a steps row, unless take_steps returns true.
    template <class Value, class Steps>
    static void each_packed_value(steps_outline const& outline, byte_view body, row_place place, Value& take_value,
                                  Steps& take_steps) {
        if (outline.lacks_memory()) { detail::say_no_memory(); }
        if (take_steps(outline, place) || outline.rows() == 0) { return; }
        steps_reader steps{body};
        for (place.part = 0; steps.next(); ++place.part) {
            packed_row const& row = steps.row();
            if (row.kind == row_kind::close) { continue; }
            bool const scalar = row.kind == row_kind::scalar;
            take_value(row.id, track_entry{row.step, row.ordinal, place, scalar, false, scalar});
        }
    }
    template <class Take>
    void survey_from(frame_walker walker, Take& take) {
        for (walked what = walker.next(); what != walked::end; what = walker.next()) {
            if (what == walked::corrupt) { take(walker.damage()); }
            if (what == walked::rows) { closed_ = (walker.frame().flags & layout::last_of_segment) != 0; }
        }
        surveyed_to_ = walker.good_end();
    }
    // Finds the frames behind the known ones.
    void walk_on();
    // Maps the file again if it was replaced or has grown.
    [[nodiscard]] error take_mapping(file_system& files, std::string const& name);
    // Neither the known file, nor a grown or thinned copy of it.
    [[nodiscard]] bool is_another(byte_view fresh) const noexcept;
    [[nodiscard]] static error another_run() noexcept;
    void take_head(std::uint32_t number, std::uint64_t run_id) noexcept;

    // Takes the sidecar's places while they are intact and consecutive. Requires an intact segment head.
    void take_sidecar(file_system& files, std::string const& name, byte_view merged, std::string const& segment);
    void take_places(file_system& files, byte_view side, std::string const& segment);
    // Otherwise the sidecar belongs to another segment, for example to a replaced one, or the segment is damaged there.
    [[nodiscard]] bool belongs(side_place const& place) const;
    // Any of the groups belongs; starts with the last one. Damaged groups prove nothing.
    [[nodiscard]] bool any_belongs() const;
    // A place is written after its rows, so a place beyond the segment's end shows that the segment was truncated.
    void take_lost_end(file_system& files, std::string const& segment, byte_view side, std::uint64_t i,
                       std::uint64_t end);

    // From the flags of its first row frame.
    [[nodiscard]] static bool is_thinned(byte_view segment) noexcept;

    void demand(std::uint64_t offset, std::uint64_t size) const;

    file_mapping mapping_{};
    file_system* files_ = nullptr;  // that mapped it
    std::size_t readable_ = 0;      // bytes that may be read
    std::uint64_t identity_ = 0;    // of the file at the last check; and its size then:
    std::uint64_t looked_at_ = 0;
    std::optional<segment_head> head_{};
    std::byte head_bytes_[layout::head_bytes]{};
    std::uint64_t tail_ = 0;  // the last bytes before known_to_
    std::vector<lost_place> lost_{};
    std::vector<lost_place> lost_past_end_{};  // lost places behind the end, from the sidecar
    std::vector<side_place> groups_{};
    std::vector<std::byte> beside_{};
    std::uint64_t known_to_ = 0;  // end of the last group
    std::uint64_t skip_ = 0;      // row frames known from an older mapping
    bool superseded_ = false;
    bool has_head_ = false;
    bool foreign_ = false;
    bool stray_ = false;
    bool closed_ = false;
    bool has_rows_past_end_ = false;  // the sidecar shows rows behind the end
    bool torn_end_ = false;
    std::uint64_t surveyed_to_ = 0;  // damage is known up to here
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/guard.hpp>
#include <spotter/format/names.hpp>
#include <spotter/format/walker.hpp>
#include <spotter/trial/no_memory.hpp>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY bool is_trouble(error const& why) noexcept {
    return why && why.code != errc::not_a_run && why.code != errc::unwritable;
}

SPOTTER_BODY error list_numbers(file_system& files, std::string_view folder,
                                std::int64_t (*number_of)(std::string_view) noexcept,
                                std::vector<std::uint32_t>& numbers) {
    struct search {
        decltype(number_of) parse;
        std::vector<std::uint32_t>& found;
        bool out_of_memory = false;
    } it{number_of, numbers};
    // A callback of the file system: no exception may leave it.
    auto const take = [](void* context, std::string_view name) noexcept {
        auto& all = *static_cast<search*>(context);
        std::int64_t const number = all.parse(name);
        all.out_of_memory = number >= 0 && !guarded([&] { all.found.push_back(static_cast<std::uint32_t>(number)); });
        return !all.out_of_memory;
    };
    numbers.clear();
    error const why = files.list(folder, take, &it);
    if (it.out_of_memory) { say_no_memory(); }
    std::sort(numbers.begin(), numbers.end());
    return why;
}

SPOTTER_BODY std::string segment_path(std::string const& folder, std::uint32_t number, char const* suffix) {
    char name[32];
    std::size_t const size = name_segment(number, suffix, name);
    return folder + '/' + std::string{name, size};
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY std::string segment_folder::file_name(std::uint32_t number, char const* suffix) const {
    return detail::segment_path(path_, number, suffix);
}

SPOTTER_BODY result<bool> segment_folder::is_file(std::string const& name) const noexcept {
    result<path_kind> const there = files_->kind_of(name);
    if (!there && detail::is_trouble(there.error())) { return there.error(); }
    return there && *there == path_kind::file;
}

SPOTTER_BODY error segment_folder::list(record_names& names) const {
    struct search {
        record_names& found;
        bool out_of_memory = false;
    } it{names};
    // A callback of the file system: no exception may leave it.
    auto const take = [](void* context, std::string_view name) noexcept {
        auto& all = *static_cast<search*>(context);
        std::int64_t const segment = segment_number(name, layout::data_suffix);
        std::int64_t const sidecar = segment_number(name, layout::side_suffix);
        all.found.lost = all.found.lost || name == layout::lost_name;
        all.out_of_memory = !guarded([&] {
            if (segment >= 0) { all.found.segments.push_back(static_cast<std::uint32_t>(segment)); }
            if (sidecar >= 0) { all.found.sidecars.push_back(static_cast<std::uint32_t>(sidecar)); }
        });
        return !all.out_of_memory;
    };
    names.segments.clear(), names.sidecars.clear(), names.lost = false;
    error const why = files_->list(path_, take, &it);
    if (it.out_of_memory) { detail::say_no_memory(); }
    std::sort(names.segments.begin(), names.segments.end());
    std::sort(names.sidecars.begin(), names.sidecars.end());
    return why;
}

SPOTTER_BODY error segment_folder::look() const {
    result<path_kind> const kind = files_->kind_of(path_);
    if (!kind && detail::is_trouble(kind.error())) { return kind.error(); }
    if (!kind || *kind != path_kind::folder) { return not_a_run("is no folder"); }
    error const unreadable = first_segment();
    if (unreadable.code != errc::not_a_run && unreadable.code != errc::corrupt) { return unreadable; }
    // A run with a lost first segment is still a run if it has later ones.
    record_names names;
    if (error const why = list(names)) { return why; }
    for (std::uint32_t const number : names.segments) {
        if (number == 0) { continue; }
        result<bool> const sound = holds(number, 0);
        if (!sound) { return sound.error(); }
        if (*sound) { return {}; }
    }
    return unreadable;
}

SPOTTER_BODY result<bool> segment_folder::holds(std::uint32_t number, std::uint64_t run_id) const {
    result<file_mapping> const file = files_->map(file_name(number, layout::data_suffix));
    if (!file && detail::is_trouble(file.error())) { return file.error(); }
    if (!file) { return false; }
    bool ours = false;
    if (auto const head = decode_head(file->bytes); head) {
        ours = head->number == number && (run_id == 0 || head->run_id == run_id);
    } else if (head.error().code != errc::unknown_version) {
        ours = static_cast<bool>(decode_row_frame(file->bytes, layout::head_bytes));
    }
    files_->unmap(*file);
    return ours;
}

SPOTTER_BODY error segment_folder::first_segment() const {
    result<file_mapping> const first = files_->map(file_name(0, layout::data_suffix));
    if (!first) { return detail::is_trouble(first.error()) ? first.error() : not_a_run("holds no 000000.spot"); }
    error const why = unreadable(first->bytes);
    files_->unmap(*first);
    return why;
}

SPOTTER_BODY error segment_folder::unreadable(byte_view bytes) const noexcept {
    if (bytes.size() < layout::head_bytes) { return {}; }  // the run is just beginning
    result<segment_head> const head = decode_head(bytes);
    if (head || head.error().code == errc::unknown_version) { return head.error(); }
    // With a damaged head it is a segment if its first row frame is intact.
    if (decode_row_frame(bytes, layout::head_bytes)) { return {}; }
    bool const begins_like_ours =
        load<std::uint32_t>(bytes.data()) == layout::head_magic || std::memcmp(bytes.data() + 8, "spotter", 8) == 0;
    if (!begins_like_ours) { return not_a_run("has a 000000.spot that is not a spotter segment"); }
    frame_walker walker{bytes};
    for (walked what = walker.next(); what != walked::end; what = walker.next()) {
        if (what == walked::rows) { return {}; }
    }
    error found{errc::corrupt, "\""};
    found.what << path_
               << "\" has a 000000.spot that begins as a spotter segment does, and nothing behind that can be read";
    return found;
}

SPOTTER_BODY error segment_folder::not_a_run(std::string_view why) const noexcept {
    error found{errc::not_a_run, "\""};
    found.what << path_ << "\" " << why << ": give the folder that a hook recorded into (hook.path() says which)";
    return found;
}

}  // namespace spotter::inline SPOTTER_ABI

#include <spotter/trial/mapped_segment.ipp>
#endif
