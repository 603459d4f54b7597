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
#include <spotter/trial/segment_folder.ipp>
#endif
