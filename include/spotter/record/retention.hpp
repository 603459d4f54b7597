// SPDX-License-Identifier: Apache-2.0
// Record (L4): keeps a run below a size: its oldest segments lose their values, never what was computed of them.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/file/file_system.hpp>
#include <spotter/format/buffer.hpp>
#include <spotter/hook/options.hpp>
#include <spotter/record/segment_files.hpp>
#include <spotter/record/thinned_copy.hpp>

namespace spotter::inline SPOTTER_ABI {

// Beyond this size a segment is closed: of a run that has a limit it is a quarter of that at most.
[[nodiscard]] std::uint64_t segment_bytes_of(options const& choices) noexcept;

// Of one worker. What it is allowed (options::run_bytes) holds for the segments that are there and one that is being
// written.
class retention {
public:
    retention(file_system& files, std::uint64_t run_bytes, std::uint64_t segment_bytes, bool to_disk) noexcept;

    // The folder with what earlier attempts left in it, and the number of the first segment of this one.
    [[nodiscard]] error begin(path_text const& folder, std::uint32_t number) noexcept;
    // A segment was closed; `last`: the run ends with it. A few of the oldest are thinned, so that whoever writes is
    // not kept from it for long: more come down with the segments to come. Nothing is lost by an error, after which the
    // next call tries again, unless it was one of writing, which ends thinning.
    [[nodiscard]] error closed(std::uint32_t number, bool last) noexcept;

private:
    static constexpr int most_at_once = 64;  // segments that are looked at, such as those thinned by an earlier attempt
    static constexpr int to_read = 32;       // one that is read, as many as these

    enum class outcome : std::uint8_t { needs_nothing, read, copied, must_wait };

    [[nodiscard]] static error no_memory() noexcept;
    [[nodiscard]] std::uint64_t size_of(std::uint32_t number) noexcept;
    // The segment at a place of the list. Nothing takes its place if somebody changed it while it was read.
    [[nodiscard]] result<outcome> thin(std::size_t place, bool last) noexcept;
    [[nodiscard]] result<outcome> copy_thinned(std::size_t place, detail::segment_image& whole, bool last,
                                               byte_buffer& side) noexcept;
    [[nodiscard]] error write(std::uint32_t number, detail::thinned_copy& copy, byte_buffer& side) noexcept;
    [[nodiscard]] error put_in_place(std::uint32_t number, byte_view side) noexcept;
    [[nodiscard]] error read_back(path_text const& part, byte_buffer& side) noexcept;

    file_system& files_;
    path_text folder_{};
    std::uint64_t limit_;
    std::uint64_t total_ = 0;        // bytes of the closed segments and their sidecars
    detail::number_list numbers_{};  // of the segments
    std::size_t oldest_ = 0;         // the place of the next to be thinned
    bool works_;
    bool to_disk_;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/retention.ipp>
#endif
