// SPDX-License-Identifier: Apache-2.0
// Record (L4): brings the ring that a killed process left in shared memory into its record.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/file/system.hpp>
#include <spotter/format/record.hpp>
#include <spotter/record/ring_drain.hpp>
#include <spotter/record/segment_files.hpp>

namespace spotter::inline SPOTTER_ABI {

struct recovered {              // the result for the rings of killed processes
    std::uint64_t rings = 0;    // recovered and removed
    std::uint64_t entries = 0;  // rows and blocks of values that are now in the record
    std::uint64_t closes = 0;   // closed steps among them
    std::uint64_t live = 0;     // workers that are still being written; left alone
    error first_error{};        // for the first ring that could not be read completely
};

namespace detail {

// A range of attempt_extent::texts, and the segment that it came from.
struct text_place {
    std::size_t at = 0;
    std::size_t size = 0;
    std::int64_t segment = -1;
};

// Values that were partly written: complete blocks behind the last frame of a segment.
struct value_extent {
    rows::drained mark{};  // bytes == 0: there were none
    text_place observe{};
    std::uint64_t done = 0;  // bytes of values in these blocks
    std::uint64_t packed_at = 0;
    std::uint64_t packed = 0;
    std::uint64_t position = 0;  // in the ring, behind them
};

// What the segments of one attempt hold, and what a next segment needs to continue.
//
// A process may be killed between writing a frame and moving the ring's tail, during a write, or at the head of a new
// segment. So only the file shows what it holds: up to the last complete row frame with a mark, in the newest segment
// that has one. Everything behind that is written again, nothing before it.
struct attempt_extent {
    bool known = false;  // the attempt has a segment
    bool marked = false;
    std::uint64_t ordinal = 0;
    double time = 0;
    std::uint64_t position = 0;  // in the ring
    value_extent values{};
    byte_buffer run_begin;
    byte_buffer texts;
    slot_array<text_place> declared;  // their bodies
};

[[nodiscard]] result<attempt_extent> extent_of(file_system& files, std::string_view folder, ring_header const& ring,
                                               number_list const& segments) noexcept;

}  // namespace detail

// Writes the rest of the ring of the recording in `folder` into a new segment of the same attempt, then removes the
// ring. The caller holds the folder's lock. After an error nothing is lost, and the call can be repeated any number of
// times. `first_error` reports a ring that is damaged or of another version. The intact part of a damaged ring is in
// the record; a ring of another version stays.
[[nodiscard]] result<recovered> recover_folder(file_system& files, std::string_view folder) noexcept;

namespace detail {

// The same for a folder without a lock, which may be missing or be a file. `live` if another process writes there.
[[nodiscard]] result<recovered> recover_unlocked(file_system& files, std::string_view folder) noexcept;

}  // namespace detail

// Brings what the killed workers of the run in `path` left in shared memory into its record. Needed only if the run is
// not resumed: a recorder that resumes it does the same first. Not an error if nothing was left.
[[nodiscard]] result<recovered> recover(std::string_view path, file_system& files = system_files()) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/casts.hpp>
#include <spotter/format/walker.hpp>
#include <spotter/format/zstd_codec.hpp>
#include <spotter/record/segment_image.hpp>
#include <spotter/record/shared_ring.hpp>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI::detail {

// Measures the complete blocks behind the last frame. In the ring each block was an entry.
SPOTTER_COLD_BODY void measure_values(byte_view segment, std::uint64_t from, std::size_t ring_bytes,
                                      value_extent& into) noexcept {
    into.packed_at = from;
    into.position = into.mark.position;
    payload_unpacker unpacker;
    for (std::uint64_t at = from; into.done < into.mark.bytes && at < segment.size();) {
        auto const block = unpacker.measure(segment.subspan(as_size(at)), into.mark.form);
        if (!block.good || block.values > into.mark.bytes - into.done) { return; }
        at += block.frames;
        into.done += block.values;
        into.packed = at - from;
        into.position = byte_ring::behind(into.position, static_cast<std::size_t>(block.values), ring_bytes);
    }
}

[[nodiscard]] SPOTTER_COLD_BODY error no_memory_to_recover() noexcept {
    return {errc::out_of_memory, "no memory to bring a ring's rest into the record; nothing was lost, try again"};
}

// Reads one segment of an attempt into the attempt's extent.
class extent_reader {
public:
    extent_reader(segment_image& image, std::int64_t number, attempt_extent& into) noexcept
        : image_{image}, segment_{image.bytes()}, number_{number}, into_{into}, newest_{!into.known} {}

    // True if the segment before must be read, too: this one only restates, or has no mark.
    [[nodiscard]] result<bool> read(std::size_t ring_bytes) noexcept {
        frame_walker walk{segment_, 0, &image_.supply()};
        for (walked what = walk.next(); what != walked::end; what = walk.next()) {
            if (what == walked::head && newest_) {
                into_.ordinal = walk.head().first_ordinal;
                into_.time = walk.head().time;
            }
            if (what == walked::rows && !take_frame(walk.frame())) { return no_memory_to_recover(); }
        }
        into_.known = true;
        if (values_.mark.bytes > 0) {
            (void)image_.part(walk.good_end(), segment_.size() - walk.good_end());
            measure_values(segment_, walk.good_end(), ring_bytes, values_);
            position_ = values_.position;
        }
        if (!take_position()) { return no_memory_to_recover(); }
        return begins_only_ || !into_.marked;
    }

private:
    // These return false where memory is exhausted.
    [[nodiscard]] bool take_frame(row_frame const& frame) noexcept {
        if (newest_) { into_.ordinal = frame.first_ordinal + frame.closes; }
        values_.mark = rows::drained{};
        row_reader rows{frame.body};
        for (row_view row{}; rows.next(row);) {
            rows::drained mark{};
            if (row.kind == row_kind::run_begin) {
                if (into_.run_begin.empty() && !into_.run_begin.append(row.body)) { return false; }
            } else if (row.kind == row_kind::declare) {
                if (!take_declaration(row.body)) { return false; }
            } else if (row.kind == row_kind::drained && !decode(row, mark)) {
                marked_ = true;
                position_ = mark.position;
                if (mark.bytes > 0) { values_.mark = mark; }
            } else {
                take_other(row);
            }
        }
        return true;
    }
    [[nodiscard]] bool take_declaration(byte_view body) noexcept {
        byte_reader in{body};
        auto const id = as_size(in.varint(no_tensor - 1));
        if (in.bad() || id >= segment_.size()) { return true; }  // larger than any id of a segment
        if (!into_.declared.grow(id + 1)) { return false; }
        text_place& place = into_.declared[id];
        if (place.segment > number_) { return true; }
        place = {into_.texts.size(), body.size(), number_};
        return into_.texts.append(body);
    }
    void take_other(row_view const& row) noexcept {
        begins_only_ = false;
        rows::close end{};
        bool const closes = newest_ && row.kind == row_kind::close && !decode(row, end);
        if (closes && end.time > into_.time) { into_.time = end.time; }
    }
    // Takes the ring's position from the newest segment that has one.
    [[nodiscard]] bool take_position() noexcept {
        // An interrupted recovery may have written fewer blocks than the segment that it copied them from.
        bool const same = values_.mark.bytes > 0 && values_.mark.bytes == into_.values.mark.bytes &&
                          values_.mark.position == into_.values.mark.position;
        if (!marked_ || (into_.marked && !(same && values_.done > into_.values.done))) { return true; }
        values_.observe = {into_.texts.size(), values_.mark.observe.size(), number_};
        if (!into_.texts.append(values_.mark.observe)) { return false; }
        into_.marked = true;
        into_.position = position_;
        into_.values = values_;
        return true;
    }

    segment_image& image_;
    byte_view segment_;
    std::int64_t number_;
    attempt_extent& into_;
    bool newest_;
    bool begins_only_ = true, marked_ = false;
    std::uint64_t position_ = 0;
    value_extent values_{};
};

SPOTTER_COLD_BODY result<attempt_extent> extent_of(file_system& files, std::string_view folder, ring_header const& ring,
                                                   number_list const& segments) noexcept {
    attempt_extent found{};
    bool more = true;
    for (std::size_t place = segments.size(); place > 0 && more; --place) {
        std::uint32_t const number = segments[place - 1];
        path_text const path = path_of_segment(folder, number);
        segment_image segment;
        if (error const why = segment.open(files, path)) {
            if (is_no_file(files, path)) { continue; }
            return why;
        }
        auto const head = decode_head(segment.part(0, (std::min)(segment.bytes().size(), layout::head_bytes)));
        result<bool> further{head || head.error().code == errc::not_a_run};  // killed before the head was written
        if (head && ring_owner{head->run_id, head->worker, head->attempt} == ring.owner()) {
            further = extent_reader{segment, number, found}.read(ring.size());
        } else if (head) {
            further = false;
        }
        if (segment.trouble() || !further) { return segment.trouble() ? segment.trouble() : further.error(); }
        more = *further;
    }
    return result<attempt_extent>{std::move(found)};
}

// The place of a further segment of the attempt that owned the ring.
[[nodiscard]] SPOTTER_COLD_BODY run_place place_behind(std::string_view folder, ring_header const& ring,
                                                       attempt_extent const& extent, std::uint32_t number) noexcept {
    run_place place{};
    place.folder = path_text{folder, ""};
    place.number = number;
    place.run_id = ring.owner().run_id;
    place.worker = ring.owner().worker;
    place.attempt = ring.owner().attempt;
    place.ordinal = extent.ordinal;
    place.now = nullptr;
    place.time = ring.time() > extent.time ? ring.time() : extent.time;
    return place;
}

// Continues with the partly written values, whose first blocks are in the last segment.
[[nodiscard]] SPOTTER_COLD_BODY error go_on_with_values(file_system& files, std::string_view folder,
                                                        attempt_extent& extent, ring_drain& drain) noexcept {
    value_extent& values = extent.values;
    segment_image segment;
    if (error const why = segment.open(files, path_of_segment(folder, values.observe.segment))) { return why; }
    if (values.packed_at > segment.bytes().size() || values.packed > segment.bytes().size() - values.packed_at) {
        return {errc::io_error, "a segment was cut while a ring's rest was brought into the record; try again"};
    }
    values.mark.observe = extent.texts.view().subspan(values.observe.at, values.observe.size);
    byte_view const packed = segment.part(values.packed_at, values.packed);
    if (segment.trouble()) { return segment.trouble(); }
    return drain.go_on(values.mark, packed, values.done) ? error{} : no_memory_to_recover();
}

// Writes the ring's content from `from` on, and the section in which the process ended, to a new segment. `goes_on`:
// begin amid values.
[[nodiscard]] SPOTTER_COLD_BODY error write_rest(file_system& files, run_place const& place, byte_ring& ring,
                                                 std::uint64_t from, attempt_extent& extent, bool goes_on,
                                                 loop_marks const& marks, recovered& report) noexcept {
    bool const sections = marks.state() != 0;
    segment_writer segments{files, options{}};
    ring_drain drain{ring, segments, 0};
    segments.mark_from(from);
    std::uint64_t const tail = ring.released();
    byte_view const texts = extent.texts.view();
    for (std::size_t id = 0; id < extent.declared.size(); ++id) {
        text_place const& each = extent.declared[id];
        if (each.size > 0) { segments.recall(texts.subspan(each.at, each.size)); }
    }
    segments.begin(place, extent.run_begin.view());
    if (goes_on) {
        if (error const why = go_on_with_values(files, place.folder, extent, drain)) { return why; }
    }
    while (!segments.failed() && drain.take()) { ++report.entries; }
    if (sections) { segments.stay({segments.now(), 0, marks.section(marks.state())}); }
    drain.flush(0);
    segments.finish();
    report.closes = segments.ordinal() - extent.ordinal;
    if (!segments.failed()) { return {}; }
    // The ring still has everything: the new segment is not needed.
    if (ring.released() == tail) { remove_segment(files, place.folder, place.number); }
    return segments.first_error();
}

// Writes what a ring has beyond its segments to a further segment.
[[nodiscard]] SPOTTER_COLD_BODY error empty_ring(file_system& files, std::string_view folder, shared_ring const& left,
                                                 recovered& report) noexcept {
    ring_header& header = *left.header();
    std::uint64_t const head = header.counters.head.load(std::memory_order_acquire);
    std::uint64_t const tail = header.counters.tail.load(std::memory_order_acquire);
    number_list there;
    if (error const why = there.read_segments(files, folder)) { return why; }
    auto extent = extent_of(files, folder, header, there);
    if (!extent) { return extent.error(); }
    bool const in_ring = extent->position >= tail && extent->position <= head && extent->position % 8 == 0;
    std::uint64_t const from = in_ring ? extent->position : tail;
    if (extent->run_begin.empty() && head > 0) {
        report.first_error =
            left.in_the_way(errc::corrupt, "leads to a ring of an attempt without a segment, which was left as it is");
        return {};
    }
    report.rings = 1;
    bool const sections = header.marks.state() != 0 && extent->known;
    if (head <= from && extent->values.mark.bytes == 0 && !sections) { return {}; }
    byte_ring ring;
    if (ring.reopen(header, from) != head) {
        report.first_error = {errc::corrupt,
                              "the ring that a killed process left is damaged; what was before that is in the record"};
    }
    auto const number = next_number(files, folder, there);
    if (!number) { return number.error(); }
    return write_rest(files, place_behind(folder, header, *extent, *number), ring, from, *extent,
                      in_ring && extent->values.mark.bytes > 0, header.marks, report);
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

SPOTTER_COLD_BODY result<recovered> recover_folder(file_system& files, std::string_view folder) noexcept {
    recovered report{};
    shared_ring left;
    error const closed = left.open(files, folder);
    for (errc const stays : {errc::corrupt, errc::unknown_version, errc::busy, errc::unwritable}) {
        if (closed.code == stays) { report.first_error = closed; }
    }
    if (closed && !report.first_error) { return closed; }
    if (closed || left.header() == nullptr) { return report; }
    if (error const why = detail::empty_ring(files, folder, left, report)) { return why; }
    if (report.rings == 0) { return report; }
    if (error const why = left.remove()) { return why; }
    return report;
}

}  // namespace spotter::inline SPOTTER_ABI

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_COLD_BODY result<recovered> recover_unlocked(file_system& files, std::string_view folder) noexcept {
    recovered report{};
    auto const kind = files.kind_of(path_text{folder, layout::ring_name});
    if (!kind) { return kind.error(); }
    if (*kind == path_kind::missing) { return report; }
    auto const lock = files.lock(path_text{folder, layout::lock_name});
    if (!lock) {
        if (lock.error().code != errc::busy) { return lock.error(); }
        report.live = 1;
        return report;
    }
    auto one = recover_folder(files, folder);
    files.unlock(*lock);
    return one;
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

SPOTTER_COLD_BODY result<recovered> recover(std::string_view path, file_system& files) noexcept {
    while (path.size() > 1 && path.back() == '/') { path.remove_suffix(1); }
    recovered all{};
    auto const add_with_flight = [&](std::string_view folder) noexcept -> error {
        auto const own = detail::recover_unlocked(files, folder);
        if (!own) { return own.error(); }
        auto const flight = detail::recover_unlocked(files, path_text{folder, layout::flight_name});
        if (!flight) { return flight.error(); }
        for (recovered const* const one : {&*own, &*flight}) {
            all.rings += one->rings;
            all.entries += one->entries;
            all.closes += one->closes;
            if (!all.first_error) { all.first_error = one->first_error; }
        }
        all.live += own->live + flight->live > 0 ? 1U : 0U;
        return {};
    };
    if (error const why = add_with_flight(path)) { return why; }
    detail::number_list found;
    if (error const why = found.read_workers(files, path)) { return why; }
    for (std::size_t i = 0; i < found.size(); ++i) {
        text<longest_path> worker{path};
        worker << "/worker-" << found[i];
        if (error const why = add_with_flight(worker)) { return why; }
    }
    return all;
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
