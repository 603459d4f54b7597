// SPDX-License-Identifier: Apache-2.0
// Record (L4): the numbered files of a folder.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/file/file_system.hpp>
#include <spotter/format/names.hpp>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// The suffix of a thinned copy until it replaces its segment.
inline constexpr char part_suffix[] = ".spot.part";

struct folder_scan {
    text<64> found{};  // the name of some segment or sidecar
    text<64> part{};   // the name of some incomplete copy
};
[[nodiscard]] result<folder_scan> scan_folder(file_system& files, std::string_view folder) noexcept;

// The numbers in a folder's file names, ascending. Code that looks for files iterates over these, not over all possible
// numbers.
class number_list {
public:
    // Numbers of segments.
    [[nodiscard]] error read_segments(file_system& files, std::string_view folder) noexcept;
    // Numbers of workers, without 0.
    [[nodiscard]] error read_workers(file_system& files, std::string_view folder) noexcept;
    [[nodiscard]] bool add(std::uint32_t number) noexcept;
    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] std::uint32_t operator[](std::size_t place) const noexcept { return list_[place]; }
    [[nodiscard]] bool holds(std::uint32_t number) const noexcept;

private:
    template <class Parse>
    [[nodiscard]] error read(file_system& files, std::string_view folder, Parse) noexcept {
        count_ = 0;
        struct taker {
            number_list* into;
            bool full;
        } each{this, false};
        auto const take = [](void* context, std::string_view name) noexcept {
            auto& all = *static_cast<taker*>(context);
            std::int64_t const number = Parse{}(name);
            all.full = number >= 0 && !all.into->add(static_cast<std::uint32_t>(number));
            return !all.full;
        };
        if (error const why = files.list(folder, take, &each)) { return why; }
        if (each.full) { return {errc::out_of_memory, "no memory for the list of a run's files"}; }
        std::sort(list_.data(), list_.data() + count_);
        return {};
    }

    slot_array<std::uint32_t> list_{};
    std::size_t count_ = 0;
};

// Removes what a process left that was killed while it thinned a segment.
[[nodiscard]] error remove_parts(file_system& files, std::string_view folder, folder_scan scan) noexcept;
[[nodiscard]] path_text path_of_segment(std::string_view folder, std::int64_t number,
                                        char const* suffix = layout::data_suffix) noexcept;
// Nothing has that name, or something that is not a file.
[[nodiscard]] bool is_no_file(file_system& files, std::string_view path) noexcept;

// The number of a folder's next segment: behind all that hold data, and not taken. Trailing empty files and non-files
// do not count: they are not segments, or their writer was killed before it had written.
[[nodiscard]] result<std::uint32_t> next_number(file_system& files, std::string_view folder,
                                                number_list const& segments) noexcept;
void remove_segment(file_system& files, std::string_view folder, std::int64_t number) noexcept;

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES

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

#endif
