// SPDX-License-Identifier: Apache-2.0
// Trial (L4): which segments a run's folder holds, and whether it is a run at all.
#pragma once

#include <spotter/file/file_system.hpp>
#include <spotter/format/record.hpp>

#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// The disk's own trouble, which says nothing of what is there; a missing file and a path that cannot be do.
[[nodiscard]] bool is_trouble(error const& why) noexcept;

// The numbers in a folder's names, ascending, by the parser of such names (format/names.hpp; negative: none of them).
[[nodiscard]] error list_numbers(file_system& files, std::string_view folder,
                                 std::int64_t (*number_of)(std::string_view) noexcept,
                                 std::vector<std::uint32_t>& numbers);
[[nodiscard]] std::string segment_path(std::string const& folder, std::uint32_t number, char const* suffix);

}  // namespace detail

// What of a record has a name in its folder; numbers ascending. Nothing is said of what is in the files.
struct record_names {
    std::vector<std::uint32_t> segments{}, sidecars{};
    bool lost = false;  // the file that tells of what was cut off
};

// Of one worker. Reads the folder each time that it is asked.
class segment_folder {
public:
    segment_folder(std::string_view path, file_system& files) : files_{&files}, path_{path} {}

    // What it is read through.
    [[nodiscard]] file_system& files() const noexcept { return *files_; }
    // The folder's.
    [[nodiscard]] std::string const& path() const noexcept { return path_; }
    // The path of a segment's file, or of what stands beside it, by its suffix.
    [[nodiscard]] std::string file_name(std::uint32_t number, char const* suffix) const;
    // Whether there is a file of that name in it; an error where the disk does not say.
    [[nodiscard]] result<bool> is_file(std::string const& name) const noexcept;
    // One look at the folder.
    [[nodiscard]] error list(record_names& names) const;
    // Why it is no run: there is no folder, or no segment in it that can be one.
    [[nodiscard]] error look() const;
    // Whether the file is a segment of that number, of that run (0: of any): by its head, or where that is damaged by
    // its first row frame.
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
#include <spotter/trial/segment_folder.ipp>
#endif
