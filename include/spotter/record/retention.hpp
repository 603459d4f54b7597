// SPDX-License-Identifier: Apache-2.0
// Record (L4): keeps a run below a size: its oldest segments lose their values, never what was computed of them.
#pragma once

#include <spotter/file/file_system.hpp>
#include <spotter/format/sidecar.hpp>
#include <spotter/hook/options.hpp>
#include <spotter/record/segment_files.hpp>
#include <spotter/record/thinned_copy.hpp>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI {

// Beyond this size a segment is closed: of a run that has a limit it is a quarter of that at most.
[[nodiscard]] inline std::uint64_t segment_bytes_of(options const& choices) noexcept {
    constexpr std::uint64_t smallest = 4096;
    std::uint64_t const most = choices.run_bytes > 0 ? choices.run_bytes / 4 : choices.segment_bytes;
    return (std::max)((std::min)(choices.segment_bytes, most), smallest);
}

// Of one worker. What it is allowed (options::run_bytes) holds for the segments that are there and one that is being written.
class retention {
public:
    retention(file_system& files, std::uint64_t run_bytes, std::uint64_t segment_bytes, bool to_disk) noexcept
        : files_{files}, limit_{run_bytes > segment_bytes ? run_bytes - segment_bytes : 0}, works_{run_bytes > 0},
          to_disk_{to_disk} {}

    // The folder with what earlier attempts left in it, and the number of the first segment of this one.
    void begin(path_text const& folder, std::uint32_t number) noexcept {
        if (!works_) { return; }
        folder_ = folder;
        for (std::uint32_t each = 0; each < number; ++each) { total_ += size_of(each); }
    }
    // A segment was closed. An error means that from now on nothing is thinned; nothing that was written is lost.
    [[nodiscard]] error closed(std::uint32_t number) noexcept {
        if (!works_) { return {}; }
        total_ += size_of(number);
        for (; total_ > limit_ && oldest_ <= number; ++oldest_) {
            std::uint64_t const before = size_of(oldest_);
            if (error why = thin(oldest_)) {
                works_ = false;
                return why;
            }
            total_ -= (std::min)(total_, before);  // where it could not be asked for before
            total_ += size_of(oldest_);
        }
        return {};
    }

private:
    static constexpr char part_suffix[] = ".spot.part";

    [[nodiscard]] std::uint64_t size_of(std::uint32_t number) noexcept {
        return files_.size_of(detail::path_of_segment(folder_, number)).value_or(0) +
               files_.size_of(detail::path_of_segment(folder_, number, layout::side_suffix)).value_or(0);
    }
    [[nodiscard]] error thin(std::uint32_t number) noexcept {
        auto const whole = files_.map(detail::path_of_segment(folder_, number));
        if (!whole) { return whole.error().code == errc::not_a_run ? error{} : whole.error(); }
        auto const next = files_.map(detail::path_of_segment(folder_, number + 1));
        error const why = replace(number, whole->bytes, next ? next->bytes : byte_view{});
        if (next) { files_.unmap(*next); }
        files_.unmap(*whole);
        return why;
    }
    [[nodiscard]] error replace(std::uint32_t number, byte_view whole, byte_view next) noexcept {
        detail::thinned_copy copy{files_, whole};
        if (!copy.cite(whole) || !copy.cite(next)) {
            return {errc::out_of_memory, "no memory to thin an old segment, which stays as it was"};
        }
        if (copy.survey() == 0) { return {}; }
        path_text const part = detail::path_of_segment(folder_, number, part_suffix);
        (void)files_.remove(part);  // of a process that was killed at it
        auto const file = files_.create(part);
        if (!file) { return file.error(); }
        error why = copy.write(*file);
        if (!why && to_disk_) { why = files_.sync(*file); }
        files_.close(*file);
        byte_buffer side;
        if (!why) { why = read_back(part, side); }
        path_text const side_path = detail::path_of_segment(folder_, number, layout::side_suffix);
        if (!why) {
            (void)files_.remove(side_path);
            why = files_.rename(part, detail::path_of_segment(folder_, number));
        }
        if (why) {
            (void)files_.remove(part);
            return why;
        }
        auto const cache = files_.create(side_path);  // a cache: it may be missing
        if (cache) {
            (void)files_.append(*cache, side.view());
            files_.close(*cache);
        }
        return {};
    }
    [[nodiscard]] error read_back(path_text const& part, byte_buffer& side) noexcept {
        auto const mapped = files_.map(part);
        if (!mapped) { return mapped.error(); }
        error const why = rebuild_sidecar(mapped->bytes, side);
        files_.unmap(*mapped);
        return why;
    }

    file_system& files_;
    path_text folder_{};
    std::uint64_t limit_;
    std::uint64_t total_ = 0;  // bytes of the closed segments and their sidecars
    std::uint32_t oldest_ = 0;
    bool works_;
    bool to_disk_;
};

}  // namespace spotter::inline SPOTTER_ABI
