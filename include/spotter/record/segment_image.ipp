// SPDX-License-Identifier: Apache-2.0
// The bodies of segment_image.hpp.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/record/segment_image.hpp>

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
