// SPDX-License-Identifier: Apache-2.0
// The bodies of segment_files.hpp.
#pragma once

#include <spotter/record/segment_files.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

[[nodiscard]] SPOTTER_BODY bool scan_name(void* context, std::string_view name) noexcept {
    auto& scan = *static_cast<folder_scan*>(context);
    bool const ours = segment_number(name, layout::data_suffix) >= 0 || segment_number(name, layout::side_suffix) >= 0;
    if (ours) { scan.found = text<64>{name}; }
    if (segment_number(name, part_suffix) >= 0) { scan.part = text<64>{name}; }
    return true;
}

SPOTTER_BODY result<folder_scan> scan_folder(file_system& files, std::string_view folder) noexcept {
    folder_scan scan{};
    if (error const why = files.list(folder, scan_name, &scan)) { return why; }
    return scan;
}

SPOTTER_BODY error number_list::read_segments(file_system& files, std::string_view folder) noexcept {
    return read(files, folder,
                [](std::string_view name) noexcept { return segment_number(name, layout::data_suffix); });
}

SPOTTER_BODY error number_list::read_workers(file_system& files, std::string_view folder) noexcept {
    return read(files, folder, [](std::string_view name) noexcept {
        std::uint32_t const worker = worker_of_folder(name);
        return worker == 0 ? std::int64_t{-1} : std::int64_t{worker};
    });
}

SPOTTER_BODY bool number_list::add(std::uint32_t number) noexcept {
    if (!list_.grow(count_ + 1)) { return false; }
    list_[count_++] = number;
    return true;
}

SPOTTER_BODY bool number_list::holds(std::uint32_t number) const noexcept {
    return std::binary_search(list_.data(), list_.data() + count_, number);
}

SPOTTER_BODY error remove_parts(file_system& files, std::string_view folder, folder_scan scan) noexcept {
    while (!scan.part.empty()) {
        if (error const why = files.remove(path_text{folder, scan.part})) { return why; }
        auto const next = scan_folder(files, folder);
        if (!next) { return next.error(); }
        scan = *next;
    }
    return {};
}

SPOTTER_BODY path_text path_of_segment(std::string_view folder, std::int64_t number, char const* suffix) noexcept {
    char name[24];
    return {folder, {name, name_segment(static_cast<std::uint32_t>(number), suffix, name)}};
}

SPOTTER_BODY bool is_no_file(file_system& files, std::string_view path) noexcept {
    auto const kind = files.kind_of(path);
    return kind && *kind != path_kind::file;
}

SPOTTER_BODY result<std::uint32_t> next_number(file_system& files, std::string_view folder,
                                               number_list const& segments) noexcept {
    std::size_t whole = segments.size();
    for (; whole > 0; --whole) {
        path_text const path = path_of_segment(folder, segments[whole - 1]);
        auto const size = files.size_of(path);
        if (!size && !is_no_file(files, path)) { return size.error(); }
        if (size && *size > 0) { break; }
    }
    std::uint64_t number = whole > 0 ? segments[whole - 1] + std::uint64_t{1} : 0;
    for (; whole < segments.size() && segments[whole] <= number; ++whole) { ++number; }
    if (number > 0xFFFF'FFFFULL) { return {errc::exists, "the run's last segment has the last number there is"}; }
    return static_cast<std::uint32_t>(number);
}

SPOTTER_BODY void remove_segment(file_system& files, std::string_view folder, std::int64_t number) noexcept {
    (void)files.remove(path_of_segment(folder, number, layout::side_suffix));
    (void)files.remove(path_of_segment(folder, number));
}

}  // namespace spotter::inline SPOTTER_ABI::detail
