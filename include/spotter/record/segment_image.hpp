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
#include <spotter/core/casts.hpp>

#include <algorithm>
#include <cstring>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_COLD_BODY error segment_image::open(file_system& files, std::string_view path) noexcept {
    auto const facts = files.facts_of(path);
    if (!facts) { return facts.error(); }
    std::byte first[1];
    auto const read = files.read(path, 0, first);  // fails for anything but a file
    if (!read) { return read.error(); }
    files_ = &files;
    path_ = path_text{"", path};
    identity_ = facts->identity;
    bool const fits = facts->bytes <= SIZE_MAX / 2 && there_.grow(as_size(facts->bytes / block + 1));
    if (fits) {
        memory_ = static_cast<std::byte*>(::operator new(static_cast<std::size_t>(facts->bytes) + 1, std::nothrow));
    }
    if (memory_ == nullptr) { return {errc::out_of_memory, "no memory to read a segment that is there already"}; }
    size_ = static_cast<std::size_t>(facts->bytes);
    supply_ = {[](void* context, std::uint64_t from, std::uint64_t bytes) noexcept {
                   static_cast<segment_image*>(context)->bring(from, bytes);
               },
               this};
    return {};
}

SPOTTER_COLD_BODY byte_view segment_image::part(std::uint64_t from, std::uint64_t bytes) noexcept {
    bring(from, bytes);
    return this->bytes().subspan(as_size(from), as_size(bytes));
}

SPOTTER_COLD_BODY bool segment_image::is_same() const noexcept {
    auto const now = files_->facts_of(path_);
    return !lacks_ && now && now->identity == identity_ && now->bytes >= size_;
}

SPOTTER_COLD_BODY void segment_image::bring(std::uint64_t from, std::uint64_t bytes) noexcept {
    std::uint64_t const end = from + (std::min)(bytes, size_ - (std::min)(from, std::uint64_t{size_}));
    for (auto at = as_size(from / block); at * block < end;) {
        if (there_[at]) {
            ++at;
            continue;
        }
        std::size_t const begin = at;
        for (; at * block < end && !there_[at]; ++at) { there_[at] = true; }
        std::size_t const size = (std::min)(at * block, size_) - begin * block;
        auto const read = files_->read(path_, begin * block, {memory_ + begin * block, size});
        std::size_t const came = read ? *read : 0;
        if (came == size) { continue; }
        std::memset(memory_ + begin * block + came, 0, size - came);
        lacks_ = true;
        if (!trouble_) { trouble_ = read.error(); }
    }
}

}  // namespace spotter::inline SPOTTER_ABI::detail

#endif
