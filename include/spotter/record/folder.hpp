// SPDX-License-Identifier: Apache-2.0
// Record (L4): chooses the folder of a run, depending on its content.
#pragma once

#include <spotter/file/file_system.hpp>
#include <spotter/format/record.hpp>
#include <spotter/hook/options.hpp>
#include <spotter/record/recover.hpp>
#include <spotter/record/segment_image.hpp>

namespace spotter::inline SPOTTER_ABI {

// The state of a run at the end of one segment.
struct segment_state {
    bool known = false;         // the head or a run_begin identifies the run
    bool ended = false;         // it has a run_end
    std::uint64_t run_id = 0;   // from the head
    std::uint32_t attempt = 0;  // from the head
    std::uint32_t workers = 0;  // the planned number of workers; 0: not specified
    std::uint64_t ordinal = 0;  // number of the next close; values without a close use one, too
    bool has_steps = false;     // it holds a close, or values without one
};

// The state of segment `number` of run `run_id` (0: any). Unknown if the head belongs to another run. An intact head
// takes precedence over the rows.
[[nodiscard]] segment_state read_state(detail::segment_image& segment, std::uint32_t number,
                                       std::uint64_t run_id) noexcept;

// The id of the run in a folder, from its first readable head; 0 if there is none, or no folder.
[[nodiscard]] result<std::uint64_t> run_id_in(file_system& files, std::string_view folder) noexcept;

// A folder and its lock.
struct open_run {
    run_place place{};   // where recording begins
    opened_file lock{};  // held until the caller unlocks it
    // Why something of an earlier attempt (a ring, a partial segment) could not be removed, or how much of it was lost.
    error left{};
};

// Finds or creates, and locks, the folder for a new run at `path`. Worker 0 records into the folder itself, worker k
// into `worker-k` below it; each has its own lock. A worker joins worker 0's run there. If that run has ended, and this
// worker has finished its part or exceeds the run's number of workers, the folder is treated as another run, as for
// worker 0. Only worker 0 replaces a run; it spares workers that are being written. With `sync` the new folder is on
// the disk, too.
[[nodiscard]] result<open_run> open_folder(file_system& files, std::string_view path, existing what,
                                           std::uint32_t worker = 0, disk_sync sync = disk_sync::never) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/slots.hpp>
#include <spotter/format/walker.hpp>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI {

// Whether the head says that the segment is another's. A damaged head counts as right.
[[nodiscard]] SPOTTER_COLD_BODY bool is_stray(byte_view segment, std::uint32_t number, std::uint64_t run_id) noexcept {
    auto const head = decode_head(segment);
    return head && (head->number != number || (run_id != 0 && head->run_id != run_id));
}

// What was read from a segment so far, frame by frame.
struct segment_reading {
    segment_state state{};
    std::uint64_t run_id = 0;  // 0: any
    bool headed = false;       // it has an intact head
    bool open = false;         // values without a close

    void take_head(segment_head const& head) noexcept {
        state.known = headed = true;
        state.run_id = head.run_id;
        state.attempt = head.attempt;
        state.ordinal = head.first_ordinal;
    }
    void take_row(row_view const& row) noexcept {
        rows::scalar one{};
        bool const in_step = row.kind == row_kind::scalar && !decode(row, one) && one.has_step;
        if (row.kind == row_kind::observe || in_step) { open = state.has_steps = true; }
        if (row.kind == row_kind::close) { open = false, state.has_steps = true; }
        if (row.kind == row_kind::run_end) { state.ended = true; }
        rows::run_begin begin{};
        if (row.kind == row_kind::run_begin && !decode(row, begin) && is_of_it(begin)) { take_begin(begin); }
    }

private:
    // The head takes precedence.
    [[nodiscard]] bool is_of_it(rows::run_begin const& begin) const noexcept {
        return headed ? begin.run_id == state.run_id && begin.attempt == state.attempt
                      : run_id == 0 || begin.run_id == run_id;
    }
    void take_begin(rows::run_begin const& begin) noexcept {
        state.known = true;
        state.run_id = begin.run_id;
        state.attempt = begin.attempt;
        state.workers = begin.workers;
    }
};

SPOTTER_COLD_BODY segment_state read_state(detail::segment_image& segment, std::uint32_t number,
                                           std::uint64_t run_id) noexcept {
    byte_view const bytes = segment.bytes();
    if (is_stray(segment.part(0, (std::min)(bytes.size(), layout::head_bytes)), number, run_id)) { return {}; }
    segment_reading reading{.run_id = run_id};
    frame_walker walk{bytes, 0, &segment.supply()};
    for (walked what = walk.next(); what != walked::end; what = walk.next()) {
        // A full disk may have prevented the run_begin row.
        if (what == walked::head && !walk.head_error()) { reading.take_head(walk.head()); }
        if (what != walked::rows) { continue; }
        row_frame const& frame = walk.frame();
        reading.state.ordinal = frame.first_ordinal + frame.closes;
        row_reader rows{frame.body};
        for (row_view row{}; rows.next(row);) { reading.take_row(row); }
    }
    if (reading.open) { ++reading.state.ordinal; }
    return reading.state;
}

}  // namespace spotter::inline SPOTTER_ABI

namespace spotter::inline SPOTTER_ABI::detail {

// Removes the segments of one worker, or of a run in its own folder.
[[nodiscard]] SPOTTER_COLD_BODY error clear_segments(file_system& files, std::string_view folder) noexcept {
    if (error const why = shared_ring::discard(files, folder)) { return why; }
    for (;;) {
        auto const scan = scan_folder(files, folder);
        if (!scan) { return scan.error(); }
        if (scan->found.empty()) { return remove_parts(files, folder, *scan); }
        if (error const why = files.remove(path_text{folder, scan->found})) { return why; }
    }
}

[[nodiscard]] SPOTTER_COLD_BODY error clear_folder(file_system& files, std::string_view folder) noexcept {
    for (std::string_view const name : {layout::flight_name, layout::system_name}) {
        path_text const inner{folder, name};
        auto const there = files.kind_of(inner);
        if (!there) { return there.error(); }
        if (*there != path_kind::folder) { continue; }
        if (error const why = clear_segments(files, inner)) { return why; }
    }
    return clear_segments(files, folder);
}

// Removes the file about the workers of a replaced run.
[[nodiscard]] SPOTTER_COLD_BODY error remove_set(file_system& files, std::string_view folder) noexcept {
    path_text const set{folder, layout::set_name};
    auto const there = files.kind_of(set);
    if (!there) { return there.error(); }
    return *there == path_kind::file ? files.remove(set) : error{};
}

// Clears the workers' folders of a replaced run, except those that are being written.
[[nodiscard]] SPOTTER_COLD_BODY error clear_workers(file_system& files, std::string_view folder) noexcept {
    number_list found;
    if (error const why = found.read_workers(files, folder)) { return why; }
    for (std::size_t i = 0; i < found.size(); ++i) {
        text<longest_path> worker{folder};
        worker << "/worker-" << found[i];
        auto const kind = files.kind_of(worker);
        if (!kind) { return kind.error(); }
        if (*kind != path_kind::folder) { continue; }  // not one of spotter's
        auto const lock = files.lock(path_text{worker, layout::lock_name});
        if (!lock && lock.error().code == errc::busy) { continue; }
        if (!lock) { return lock.error(); }
        error const why = clear_folder(files, worker);
        files.unlock(*lock);
        if (why) { return why; }
    }
    return {};
}

// The id of the run in the folder, as readers determine it: from the first readable head whose number is that of its
// file. 0 if there is none.
[[nodiscard]] SPOTTER_COLD_BODY result<std::uint64_t> read_run_id(file_system& files, std::string_view folder,
                                                                  number_list const& segments) noexcept {
    for (std::size_t place = 0; place < segments.size(); ++place) {
        path_text const path = path_of_segment(folder, segments[place]);
        std::byte bytes[layout::head_bytes];
        auto const read = files.read(path, 0, bytes);
        if (!read && is_no_file(files, path)) { continue; }
        if (!read) { return read.error(); }
        auto const head = decode_head(byte_view{bytes}.first(*read));
        if (head && head->number == segments[place]) { return head->run_id; }
    }
    return std::uint64_t{0};
}

// The state at the last segment that has any; `odd` reports one that is no file.
[[nodiscard]] SPOTTER_COLD_BODY result<segment_state> read_last(file_system& files, std::string_view folder,
                                                                number_list const& segments, error& odd) noexcept {
    auto const run_id = read_run_id(files, folder, segments);
    if (!run_id) { return run_id.error(); }
    segment_state state{};
    for (std::size_t place = segments.size(); place > 0 && !(state.known && state.has_steps); --place) {
        path_text const path = path_of_segment(folder, segments[place - 1]);
        segment_image segment;
        if (error const why = segment.open(files, path)) {
            if (!is_no_file(files, path)) { return why; }
            if (!odd) { odd = why; }
            continue;
        }
        segment_state const older = read_state(segment, segments[place - 1], *run_id);
        if (segment.trouble()) { return segment.trouble(); }
        if (!state.known) {
            state = older;
        } else if (older.known) {  // the later one only restates: this one shows whether a step was open
            state.ordinal = older.ordinal > state.ordinal ? older.ordinal : state.ordinal;
            state.has_steps = older.has_steps || older.attempt != state.attempt;
        }
    }
    return state;
}

// The state of the run in a folder; unknown if there is no folder.
[[nodiscard]] SPOTTER_COLD_BODY result<segment_state> state_of(file_system& files, std::string_view folder) noexcept {
    auto const kind = files.kind_of(folder);
    if (!kind) { return kind.error(); }
    if (*kind != path_kind::folder) { return segment_state{}; }
    number_list segments;
    if (error const why = segments.read_segments(files, folder)) { return why; }
    error odd{};
    return read_last(files, folder, segments, odd);
}

[[nodiscard]] SPOTTER_COLD_BODY error there_is_one(std::string_view path) noexcept {
    error why{errc::exists, "there is a finished run in "};
    why.what << path.substr(path.size() > 100 ? path.size() - 100 : 0)
             << "; choose another folder, or existing::next or ::replace";
    return why;
}

[[nodiscard]] SPOTTER_COLD_BODY error path_too_long() noexcept {
    return {errc::unwritable, "the path of the run is too long; choose a shorter one"};
}

[[nodiscard]] SPOTTER_COLD_BODY std::string_view folder_above(std::string_view path) noexcept {
    std::size_t const cut = path.rfind('/');
    return cut == path.npos ? std::string_view{"."} : path.substr(0, cut == 0 ? 1 : cut);
}

// Syncs the creation of a folder and its parents, up to `known`, which existed before.
[[nodiscard]] SPOTTER_COLD_BODY error sync_above(file_system& files, std::string_view folder,
                                                 std::string_view known) noexcept {
    error first{};
    for (std::string_view above = folder_above(folder);; above = folder_above(above)) {
        error const why = files.sync_folder(above);
        if (!first) { first = why; }
        if (above.size() <= known.size()) { return first; }
    }
}

// Tries one name after another for a run, until one is available.
class folder_opener {
public:
    folder_opener(file_system& files, path_text const& path, existing what, std::uint32_t worker,
                  disk_sync sync) noexcept
        : files_{files}, path_{path}, what_{what}, worker_{worker}, sync_{sync} {}

    // False if the name belongs to another run; try the next one.
    [[nodiscard]] result<bool> take(int number) noexcept {
        run_ = {};
        run_.left = left_;
        folder_ = text<longest_path>{path_.view()};
        if (number > 1) { folder_ << '-' << number; }
        if (worker_ > 0) {
            if (auto joins = join(); !joins || !*joins) { return joins; }
        }
        if (error const why = make()) { return why; }
        auto const lock = files_.lock(path_text{folder_, layout::lock_name});
        if (!lock) { return lock.error(); }
        run_.lock = run_.place.lock = *lock;
        auto taken = clear_and_recover();
        if (!taken || !*taken) { files_.unlock(run_.lock); }
        return taken;
    }
    [[nodiscard]] open_run const& run() const noexcept { return run_; }

private:
    // Whether the worker joins the run of this name, whose folder exists.
    [[nodiscard]] result<bool> join() noexcept {
        auto const first = state_of(files_, folder_);
        if (!first) { return first.error(); }
        folder_ << "/worker-" << worker_;
        auto const own = state_of(files_, folder_);
        if (!own) { return own.error(); }
        bool const another = first->ended && (own->ended || (first->workers > 0 && worker_ >= first->workers));
        if (another && what_ == existing::refuse) { return there_is_one(path_); }
        return !another || what_ != existing::next;
    }
    [[nodiscard]] error make() noexcept {
        run_.place.worker = worker_;
        run_.place.folder = path_text{folder_, ""};
        if (!run_.place.folder.good()) { return path_too_long(); }
        auto const kind = files_.kind_of(folder_);
        if (!kind) { return kind.error(); }
        if (*kind == path_kind::folder) { return {}; }
        if (*kind != path_kind::missing) {
            error why{errc::unwritable, "cannot record into "};
            std::string_view const path = path_.view();
            why.what << path.substr(path.size() > 120 ? path.size() - 120 : 0) << ": it is "
                     << (*kind == path_kind::file ? "a file" : "no folder") << "; choose a folder";
            return why;
        }
        std::string_view known = folder_above(folder_);
        while (sync_ != disk_sync::never && files_.kind_of(known).value_or(path_kind::folder) == path_kind::missing) {
            known = folder_above(known);
        }
        if (error const why = files_.make_folder(folder_)) { return why; }
        if (sync_ != disk_sync::never) { keep(sync_above(files_, folder_, known)); }
        return {};
    }
    [[nodiscard]] result<bool> clear_and_recover() noexcept {
        if (what_ == existing::replace) {
            if (error const why = clear_folder(files_, folder_)) { return why; }
            if (worker_ == 0) {
                if (error const why = remove_set(files_, folder_)) { return why; }
                if (error const why = clear_workers(files_, folder_)) { return why; }
            }
        }
        auto const rest = recover_folder(files_, run_.place.folder);
        if (!rest) { return rest.error(); }
        keep(rest->first_error);
        auto const flight = recover_unlocked(files_, path_text{folder_, layout::flight_name});
        keep(flight ? flight->first_error : flight.error());
        auto const scan = scan_folder(files_, folder_);
        if (!scan) { return scan.error(); }
        keep(remove_parts(files_, folder_, *scan));
        return go_on();
    }
    // Places the new attempt behind existing segments; false if that run has ended and must not be resumed.
    [[nodiscard]] result<bool> go_on() noexcept {
        run_.place.run_id = make_run_id();
        number_list segments;
        if (error const why = segments.read_segments(files_, folder_)) { return why; }
        if (segments.size() == 0) { return true; }
        error odd{};
        auto const state = read_last(files_, folder_, segments, odd);
        if (!state) { return state.error(); }
        keep(odd);
        if (worker_ == 0 && state->ended && what_ == existing::refuse) { return there_is_one(path_); }
        if (worker_ == 0 && state->ended && what_ == existing::next) {
            left_ = run_.left;
            return false;
        }
        auto const next = next_number(files_, folder_, segments);
        if (!next) { return next.error(); }
        run_.place.number = *next;
        if (state->known) {
            run_.place.run_id = state->run_id;
            run_.place.attempt = state->attempt + 1;
            run_.place.ordinal = state->ordinal;
        }
        return true;
    }
    void keep(error const& why) noexcept {
        if (!run_.left) { run_.left = why; }
    }

    file_system& files_;
    path_text path_;
    existing what_;
    std::uint32_t worker_;
    disk_sync sync_;
    open_run run_{};
    text<longest_path> folder_{};
    error left_{};  // of the folders tried before
};

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

SPOTTER_COLD_BODY result<std::uint64_t> run_id_in(file_system& files, std::string_view folder) noexcept {
    auto const kind = files.kind_of(folder);
    if (!kind) { return kind.error(); }
    if (*kind != path_kind::folder) { return std::uint64_t{0}; }
    detail::number_list segments;
    if (error const why = segments.read_segments(files, folder)) { return why; }
    return detail::read_run_id(files, folder, segments);
}

SPOTTER_COLD_BODY result<open_run> open_folder(file_system& files, std::string_view path, existing what,
                                               std::uint32_t worker, disk_sync sync) noexcept {
    while (path.size() > 1 && path.back() == '/') { path.remove_suffix(1); }
    if (path.empty()) { return {errc::bad_config, "a run needs a folder: give hook a path such as \"runs/a\""}; }
    constexpr int most = 10000;
    path_text const whole = files.absolute(path);  // the working directory may change before the next segment
    if (!whole.good()) { return detail::path_too_long(); }
    detail::folder_opener opener{files, whole, what, worker, sync};
    for (int number = 1; number < most; ++number) {
        auto const taken = opener.take(number);
        if (!taken) { return taken.error(); }
        if (*taken) { return opener.run(); }
    }
    return {errc::exists, "thousands of runs of this name are there already; choose another folder"};
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
