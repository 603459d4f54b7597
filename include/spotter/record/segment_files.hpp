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
#include <spotter/record/segment_files.ipp>
#endif
