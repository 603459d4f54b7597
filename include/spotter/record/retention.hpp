// SPDX-License-Identifier: Apache-2.0
// Record (L4): keeps a run below a size limit: the oldest segments lose their values, but no statistics.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/file/file_system.hpp>
#include <spotter/format/buffer.hpp>
#include <spotter/hook/options.hpp>
#include <spotter/record/segment_files.hpp>
#include <spotter/record/thinned_copy.hpp>

namespace spotter::inline SPOTTER_ABI {

// A segment is closed beyond this size; in a run with a limit, a quarter of the limit at most.
[[nodiscard]] std::uint64_t segment_bytes_of(options const& choices) noexcept;

// For one worker. The limit (options::run_bytes) covers the closed segments and the one being written.
class retention {
public:
    retention(file_system& files, std::uint64_t run_bytes, std::uint64_t segment_bytes, bool to_disk) noexcept;

    // `folder` may hold earlier attempts' segments; `number` is the first of this attempt.
    [[nodiscard]] error begin(path_text const& folder, std::uint32_t number) noexcept;
    // A segment was closed; `last`: the run ends with it. Thins only a few of the oldest segments, so that the writer
    // is not delayed for long; later calls thin more. After an error nothing is lost and the next call tries again; but
    // an error of writing ends thinning.
    [[nodiscard]] error closed(std::uint32_t number, bool last) noexcept;

private:
    static constexpr int most_at_once = 64;  // units of work in one call; a segment that needs nothing costs one
    static constexpr int to_read = 32;       // units for a segment that is read

    enum class outcome : std::uint8_t { needs_nothing, read, copied, must_wait };

    [[nodiscard]] static error no_memory() noexcept;
    [[nodiscard]] std::uint64_t size_of(std::uint32_t number) noexcept;
    // Thins the segment at a place of the list. Does not replace it if its file changed meanwhile.
    [[nodiscard]] result<outcome> thin(std::size_t place, bool last) noexcept;
    [[nodiscard]] result<outcome> copy_thinned(std::size_t place, detail::segment_image& whole, bool last,
                                               byte_buffer& side) noexcept;
    [[nodiscard]] error write(std::uint32_t number, detail::thinned_copy& copy, byte_buffer& side) noexcept;
    [[nodiscard]] error put_in_place(std::uint32_t number, byte_view side) noexcept;
    [[nodiscard]] error read_back(path_text const& part, byte_buffer& side) noexcept;

    file_system& files_;
    path_text folder_{};
    std::uint64_t limit_;
    std::uint64_t total_ = 0;  // size of the closed segments and their sidecars
    detail::number_list numbers_{};
    std::size_t oldest_ = 0;  // place of the next one to thin
    bool works_;
    bool to_disk_;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/retention.ipp>
#endif
