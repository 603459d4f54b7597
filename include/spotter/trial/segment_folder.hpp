// SPDX-License-Identifier: Apache-2.0
// Trial (L4): the segments in a run's folder, and whether it is a run at all.
#pragma once

#include <spotter/file/file_system.hpp>
#include <spotter/format/record.hpp>

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
#endif
