// SPDX-License-Identifier: Apache-2.0
// Record (L4): an existing segment, read part by part on demand. A recording process maps no files: another process may
// truncate one, and the system kills a process that touches mapped memory beyond the end of its file.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/file/file_system.hpp>
#include <spotter/format/frame.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Reserves address space for the whole segment, and reads parts into it. A walk reads only the heads of value blocks,
// about a page in thirty. Parts that are cut off or unreadable are zeros: a walk then finds damage, or an end.
class segment_image {
public:
    segment_image() noexcept = default;
    segment_image(segment_image const&) = delete;
    segment_image& operator=(segment_image const&) = delete;
    ~segment_image() { ::operator delete(memory_); }

    // Opens it in its current state; errors as for `map`.
    [[nodiscard]] error open(file_system& files, std::string_view path) noexcept;

    // Only parts that were read may be accessed.
    [[nodiscard]] byte_view bytes() const noexcept { return {memory_, size_}; }
    [[nodiscard]] byte_supply const& supply() const noexcept { return supply_; }
    // A part of it, which is read if necessary.
    [[nodiscard]] byte_view part(std::uint64_t from, std::uint64_t bytes) noexcept;
    // The first read error of the disk; a truncated file is none.
    [[nodiscard]] error const& trouble() const noexcept { return trouble_; }
    // Everything was read from one file, which still has its name and is not shorter.
    [[nodiscard]] bool is_same() const noexcept;

private:
    static constexpr std::size_t block = 4096;
    void bring(std::uint64_t from, std::uint64_t bytes) noexcept;

    file_system* files_ = nullptr;
    path_text path_{};
    std::byte* memory_ = nullptr;
    std::size_t size_ = 0;
    std::uint64_t identity_ = 0;
    slot_array<bool> there_{};  // by blocks: it was read
    bool lacks_ = false;        // a part was missing
    error trouble_{};
    byte_supply supply_{};
};

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/record/segment_image.ipp>
#endif
