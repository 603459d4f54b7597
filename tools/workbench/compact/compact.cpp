// SPDX-License-Identifier: Apache-2.0
// Workbench, compact: the bodies of spotter/workbench/compact.hpp.
#include <spotter/format/zstd_codec.hpp>
#include <spotter/trial/worker_list.hpp>
#include <spotter/workbench/compact.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// The new file that will replace the set. No other process writes it during this object's lifetime.
class set_part {
public:
    set_part(file_system& files, std::string_view folder) : files_{files}, set_{folder, layout::set_name} {
        path_ = std::string{set_.view()} + ".part";
    }
    set_part(set_part const&) = delete;
    set_part& operator=(set_part const&) = delete;
    ~set_part() {
        if (file_.open()) { (void)files_.close(file_); }
        if (!held_.open()) { return; }
        if (!done_) { (void)files_.remove(path_); }
        files_.unlock(held_);
    }

    [[nodiscard]] error open() {
        for (;;) {
            auto const held = files_.lock(path_);
            if (!held) { return held.error(); }
            held_ = *held;
            auto const mine = files_.is_at(held_, path_);
            if (!mine) { return mine.error(); }
            auto const bytes = *mine ? files_.size_of(path_) : result<std::uint64_t>{0};
            if (!bytes) { return bytes.error(); }
            if (*mine && *bytes == 0) { break; }
            // Left by a killed process, or renamed between the two checks.
            if (*mine) { (void)files_.remove(path_); }
            files_.unlock(std::exchange(held_, opened_file{}));
        }
        auto const file = files_.open_append(path_);
        if (!file) { return file.error(); }
        file_ = *file;
        return {};
    }
    [[nodiscard]] error append(byte_view bytes) noexcept { return files_.append(file_, bytes); }
    [[nodiscard]] error finish() noexcept {
        error why = files_.sync(file_);
        error const closed = files_.close(std::exchange(file_, opened_file{}));
        if (!why) { why = closed; }
        if (!why) { why = files_.rename(path_, set_); }
        done_ = !why;
        return why;
    }

private:
    file_system& files_;
    path_text set_;
    std::string path_{};
    opened_file held_{}, file_{};
    bool done_ = false;
};

// Everything known about the segment: its sidecar if that reaches the segment's end or beyond (the end was cut off, and
// only the sidecar knows its content), otherwise a sidecar rebuilt from the segment.
template <class Take>
[[nodiscard]] static error with_sidecar(segment_folder const& folder, std::uint32_t number, Take&& take) {
    file_system& files = folder.files();
    auto const segment = files.map(folder.file_name(number, layout::data_suffix));
    if (!segment) { return segment.error(); }
    auto const side = files.map(folder.file_name(number, layout::side_suffix));
    byte_view const older = side ? side->bytes : byte_view{};
    std::uint64_t end = layout::head_bytes;
    for (std::uint64_t i = 0, places = side_places(older); i < places; ++i) {
        auto const place = decode_side_place(older, i, ~std::uint64_t{0});
        if (!place || place->previous_end != end) { break; }
        end = place->end;
    }
    byte_buffer made{};
    error why{};
    if (end < segment->bytes.size()) { why = rebuild_sidecar(segment->bytes, made, older); }
    if (!why) { take(segment->bytes.size(), end < segment->bytes.size() ? made.view() : older); }
    if (side) { files.unmap(*side); }
    files.unmap(*segment);
    return why;
}

// A worker that can be part of the set.
struct set_candidate {
    std::uint32_t number = 0;
    std::string folder{};
    std::vector<set_segment> segments{};
};

[[nodiscard]] static bool add_to_set(set_candidate& it, file_system& files, worker_set_writer& set) {
    payload_unpacker unpacker;
    worker_reader reader{it.number, it.folder, files, unpacker};
    if (reader.refresh() || reader.running() || reader.number() != it.number) { return false; }
    worker_index const& its = reader.index();
    record_names names;
    if (its.folder().list(names) || names.segments.empty()) { return false; }
    for (std::uint32_t const number : names.segments) {
        set_segment each{number, 0, 0, 0};
        error const why = with_sidecar(its.folder(), number, [&](std::uint64_t bytes, byte_view side) {
            each.bytes = bytes, each.side_bytes = static_cast<std::uint32_t>(side.size());
        });
        if (why) { return false; }
        it.segments.push_back(each);
    }
    set_worker who{it.number, its.ended() ? its.ended_how() : std::uint8_t{0}, its.expected_workers(),
                   static_cast<std::uint32_t>(names.segments.size()), its.begun_at()};
    if (!its.steps().empty()) { who.last_sign = (std::max)(who.last_sign, its.steps().back().time); }
    who.last_sign = (std::max)(who.last_sign, its.ended_at());
    bool put = set.add(who);
    for (set_segment const& each : it.segments) { put = put && set.add(each); }
    if (!put) { say_no_memory(); }
    return true;
}

// Copies as many bytes as the directory says, whatever happened to the sidecar since: readers use the valid part.
[[nodiscard]] static error copy_sidecars(set_candidate const& it, file_system& files, set_part& into) {
    segment_folder const folder{it.folder, files};
    for (set_segment const& each : it.segments) {
        std::vector<std::byte> bytes(each.side_bytes);
        (void)with_sidecar(folder, each.number, [&](std::uint64_t, byte_view side) {
            if (!bytes.empty()) { std::memcpy(bytes.data(), side.data(), (std::min)(bytes.size(), side.size())); }
        });
        if (error const why = into.append(bytes)) { return why; }
    }
    return {};
}

[[nodiscard]] static result<compacted_run> compact_folder(std::string_view path, file_system& files,
                                                          work_count* workers) {
    std::vector<set_candidate> all;
    compacted_run done{};
    {
        worker_list list{path, files};
        if (error const why = list.refresh()) { return why; }
        for (auto const& each : list.all()) {
            if (each->number() > 0 && each->path() == path) {
                return error{errc::not_a_run, "it is the folder of one worker of several: give the run's"};
            }
            all.push_back({each->number(), each->path(), {}});
        }
    }
    set_part file{files, path};
    if (error const why = file.open()) { return why; }
    worker_set_writer set{};
    std::size_t const found = all.size();
    auto const count = [&] {
        if (workers != nullptr) { workers->add(1); }
    };
    if (workers != nullptr) { workers->total = 2 * found; }
    std::erase_if(all, [&](set_candidate& it) {
        count();
        return !add_to_set(it, files, set);
    });
    done.left_out = static_cast<std::uint32_t>(found - all.size());
    byte_buffer directory{};
    if (!set.seal(directory)) { say_no_memory(); }
    if (error const why = file.append(directory.view())) { return why; }
    done.workers = static_cast<std::uint32_t>(all.size());
    done.bytes = directory.size();
    for (set_candidate const& it : all) {
        if (error const why = copy_sidecars(it, files, file)) { return why; }
        count();
        for (set_segment const& each : it.segments) { done.bytes += each.side_bytes; }
    }
    if (error const why = file.finish()) { return why; }
    return done;
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

result<compacted_run> compact_run(std::string_view path, file_system& files, work_count* workers) noexcept {
    while (path.size() > 1 && path.ends_with('/')) { path.remove_suffix(1); }
    return detail::answered([&]() -> result<compacted_run> { return detail::compact_folder(path, files, workers); },
                            "no memory to merge the sidecars");
}

}  // namespace spotter::inline SPOTTER_ABI
