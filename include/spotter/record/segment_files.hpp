// SPDX-License-Identifier: Apache-2.0
// Record (L4): the numbered files of a folder.
#pragma once

#include <spotter/file/file_system.hpp>
#include <spotter/format/layout.hpp>
#include <spotter/record/fwd.hpp>

namespace spotter::inline SPOTTER_ABI {

// The number of a segment by its file's name, or -1.
[[nodiscard]] constexpr std::int64_t segment_number(std::string_view name, std::string_view suffix) noexcept {
    if (!name.ends_with(suffix) || name.size() < suffix.size() + 6 || name.size() > suffix.size() + 9) { return -1; }
    std::int64_t number = 0;
    for (char letter : name.substr(0, name.size() - suffix.size())) {
        if (letter < '0' || letter > '9') { return -1; }
        number = number * 10 + (letter - '0');
    }
    return number;
}

namespace detail {

// The worker of a folder `worker-k`, or -1.
[[nodiscard]] constexpr std::int64_t worker_number(std::string_view name) noexcept {
    constexpr std::string_view prefix = "worker-";
    if (!name.starts_with(prefix) || name.size() == prefix.size() || name.size() > prefix.size() + 9) { return -1; }
    std::int64_t number = 0;
    for (char letter : name.substr(prefix.size())) {
        if (letter < '0' || letter > '9') { return -1; }
        number = number * 10 + (letter - '0');
    }
    return number;
}

// Of a segment that is being thinned, until it takes the place of the whole one.
inline constexpr char part_suffix[] = ".spot.part";

struct folder_scan {
    std::int64_t last = -1;  // the largest number of a segment
    text<64> found{};        // the name of any segment or sidecar
    text<64> part{};         // the name of any copy that was left half done
};
[[nodiscard]] inline bool scan_name(void* context, std::string_view name) noexcept {
    auto& scan = *static_cast<folder_scan*>(context);
    std::int64_t const number = segment_number(name, layout::data_suffix);
    scan.last = number > scan.last ? number : scan.last;
    if (number >= 0 || segment_number(name, layout::side_suffix) >= 0) { scan.found = text<64>{name}; }
    if (segment_number(name, part_suffix) >= 0) { scan.part = text<64>{name}; }
    return true;
}
[[nodiscard]] inline result<folder_scan> scan_folder(file_system& files, std::string_view folder) noexcept {
    folder_scan scan{};
    if (error const why = files.list(folder, scan_name, &scan)) { return why; }
    return scan;
}
// What a process that was killed while it thinned a segment has left.
[[nodiscard]] inline error remove_parts(file_system& files, std::string_view folder, folder_scan scan) noexcept {
    while (!scan.part.empty()) {
        if (error const why = files.remove(path_text{folder, scan.part})) { return why; }
        auto const next = scan_folder(files, folder);
        if (!next) { return next.error(); }
        scan = *next;
    }
    return {};
}
[[nodiscard]] inline path_text path_of_segment(std::string_view folder, std::int64_t number,
                                               char const* suffix = layout::data_suffix) noexcept {
    char name[24];
    return {folder, {name, name_segment(static_cast<std::uint32_t>(number), suffix, name)}};
}
inline void remove_segment(file_system& files, std::string_view folder, std::int64_t number) noexcept {
    (void)files.remove(path_of_segment(folder, number, layout::side_suffix));
    (void)files.remove(path_of_segment(folder, number));
}

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
