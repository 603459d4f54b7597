// SPDX-License-Identifier: Apache-2.0
// Trial (L4): which segments a run's folder holds, and whether it is a run at all.
#pragma once

#include <spotter/file/file_system.hpp>
#include <spotter/format/record.hpp>
#include <spotter/format/walker.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// The disk's own trouble, which says nothing of what is there; a missing file and a path that cannot be do.
[[nodiscard]] inline bool is_trouble(error const& why) noexcept {
    return why && why.code != errc::not_a_run && why.code != errc::unwritable;
}

// Whether a file's name is that of a segment, and of which.
[[nodiscard]] inline bool read_segment_name(std::string_view name, std::uint32_t& number) noexcept {
    std::string_view const suffix = layout::data_suffix;
    if (!name.ends_with(suffix)) { return false; }
    name.remove_suffix(suffix.size());
    if (name.size() < 6 || name.size() > 10 || (name.size() > 6 && name.front() == '0')) { return false; }
    std::uint64_t found = 0;
    for (char letter : name) {
        if (letter < '0' || letter > '9') { return false; }
        found = found * 10 + static_cast<std::uint64_t>(letter - '0');
    }
    number = static_cast<std::uint32_t>(found);
    return found <= 0xFFFFFFFFULL;
}

}  // namespace detail

// Of one worker. Reads the folder each time that it is asked.
class segment_folder {
public:
    segment_folder(std::string_view path, file_system& files) : files_{&files}, path_{path} {}

    [[nodiscard]] file_system& files() const noexcept { return *files_; }
    [[nodiscard]] std::string const& path() const noexcept { return path_; }
    [[nodiscard]] std::string file_name(std::uint32_t number, char const* suffix) const {
        char name[32];
        std::size_t const size = name_segment(number, suffix, name);
        return path_ + '/' + std::string{name, size};
    }
    [[nodiscard]] result<bool> is_file(std::string const& name) const noexcept {
        result<path_kind> const there = files_->kind_of(name);
        if (!there && detail::is_trouble(there.error())) { return there.error(); }
        return there && *there == path_kind::file;
    }
    // The numbers that there are files of, ascending; nothing is said of what is in them.
    [[nodiscard]] error list(std::vector<std::uint32_t>& numbers) const {
        found_numbers found{numbers, false};
        numbers.clear();
        if (error const why = files_->list(path_, &take_name, &found)) { return why; }
        if (found.out_of_memory) { return {errc::out_of_memory, "no memory to list the segments of the run"}; }
        std::sort(numbers.begin(), numbers.end());
        return {};
    }
    // Why it is no run: there is no folder, or no segment in it that can be one.
    [[nodiscard]] error look() const {
        result<path_kind> const kind = files_->kind_of(path_);
        if (!kind && detail::is_trouble(kind.error())) { return kind.error(); }
        if (!kind || *kind != path_kind::folder) { return not_a_run("is no folder"); }
        error const unreadable = first_segment();
        if (unreadable.code != errc::not_a_run && unreadable.code != errc::corrupt) { return unreadable; }
        // A run whose first segment is lost is still a run where it was resumed, or had come to the next.
        std::vector<std::uint32_t> numbers;
        if (error const why = list(numbers)) { return why; }
        for (std::uint32_t const number : numbers) {
            if (number == 0) { continue; }
            result<bool> const sound = holds(number, 0);
            if (!sound) { return sound.error(); }
            if (*sound) { return {}; }
        }
        return unreadable;
    }
    // Whether the file is a segment of that number, of that run (0: of any): by its head, or where that is damaged by its first row frame.
    [[nodiscard]] result<bool> holds(std::uint32_t number, std::uint64_t run_id) const {
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

private:
    struct found_numbers {
        std::vector<std::uint32_t>& numbers;
        bool out_of_memory;
    };
    // Called by a file system, which no exception may leave.
    static bool take_name(void* context, std::string_view name) noexcept {
        auto& found = *static_cast<found_numbers*>(context);
        std::uint32_t number = 0;
        if (!detail::read_segment_name(name, number)) { return true; }
#if SPOTTER_EXCEPTIONS
        try {
            found.numbers.push_back(number);
        } catch (...) { found.out_of_memory = true; }
#else
        found.numbers.push_back(number);
#endif
        return !found.out_of_memory;
    }
    [[nodiscard]] error first_segment() const {
        result<file_mapping> const first = files_->map(file_name(0, layout::data_suffix));
        if (!first) { return detail::is_trouble(first.error()) ? first.error() : not_a_run("holds no 000000.spot"); }
        error const why = unreadable(first->bytes);
        files_->unmap(*first);
        return why;
    }
    [[nodiscard]] error unreadable(byte_view bytes) const noexcept {
        if (bytes.size() < layout::head_bytes) { return {}; }  // a run that is just beginning
        result<segment_head> const head = decode_head(bytes);
        if (head || head.error().code == errc::unknown_version) { return head.error(); }
        // Where only the head is damaged it is a segment: its first row frame is there.
        if (decode_row_frame(bytes, layout::head_bytes)) { return {}; }
        bool const begins_like_ours =
            load<std::uint32_t>(bytes.data()) == layout::head_magic || std::memcmp(bytes.data() + 8, "spotter", 8) == 0;
        if (!begins_like_ours) { return not_a_run("has a 000000.spot that is no spotter segment"); }
        frame_walker walker{bytes};
        for (walked what = walker.next(); what != walked::end; what = walker.next()) {
            if (what == walked::rows) { return {}; }
        }
        error found{errc::corrupt, "\""};
        found.what << path_
                   << "\" has a 000000.spot that begins as a spotter segment does, and nothing behind that can be read";
        return found;
    }
    [[nodiscard]] error not_a_run(std::string_view why) const noexcept {
        error found{errc::not_a_run, "\""};
        found.what << path_ << "\" " << why << ": give the folder that a hook recorded into (hook.path() says which)";
        return found;
    }

    file_system* files_;
    std::string path_;
};

}  // namespace spotter::inline SPOTTER_ABI
