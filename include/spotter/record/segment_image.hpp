// SPDX-License-Identifier: Apache-2.0
// Record (L4): a segment that lies there already, read part by part as it is looked at. Who records maps nothing:
// somebody may cut a file meanwhile, and whoever touches mapped memory that a file has no longer is ended by the
// system.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/file/file_system.hpp>
#include <spotter/format/frame.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Has the address space of the whole segment, and memory for what was brought: of values, of which a walk sees the
// heads of their blocks alone, a page in thirty. What is cut off or cannot be read is zeros: a walk finds damage, or an
// end.
class segment_image {
public:
    segment_image() noexcept = default;
    segment_image(segment_image const&) = delete;
    segment_image& operator=(segment_image const&) = delete;
    ~segment_image() { ::operator delete(memory_); }

    // As it is now; errors as `map` has them.
    [[nodiscard]] error open(file_system& files, std::string_view path) noexcept;

    // Of what nobody brought nothing may be read.
    [[nodiscard]] byte_view bytes() const noexcept { return {memory_, size_}; }
    [[nodiscard]] byte_supply const& supply() const noexcept { return supply_; }
    // A part of it that is there.
    [[nodiscard]] byte_view part(std::uint64_t from, std::uint64_t bytes) noexcept;
    // The first reading that failed: a disk that errs, not a file that was cut.
    [[nodiscard]] error const& trouble() const noexcept { return trouble_; }
    // All of it came from one file, which still has its name and is not shorter.
    [[nodiscard]] bool is_same() const noexcept;

private:
    static constexpr std::size_t block = 4096;
    void bring(std::uint64_t from, std::uint64_t bytes) noexcept;

    file_system* files_ = nullptr;
    path_text path_{};
    std::byte* memory_ = nullptr;
    std::size_t size_ = 0;
    std::uint64_t identity_ = 0;
    slot_array<bool> there_{};  // by blocks
    bool lacks_ = false;        // something was not there any more
    error trouble_{};
    byte_supply supply_{};
};

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/record/segment_image.ipp>
#endif
