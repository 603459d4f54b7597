// SPDX-License-Identifier: Apache-2.0
// The bodies of buffer.hpp.
#pragma once

#include <spotter/format/buffer.hpp>

#include <cstring>
#include <new>
#include <utility>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY byte_buffer::byte_buffer(byte_buffer&& other) noexcept
    : bytes_{std::exchange(other.bytes_, nullptr)}, size_{std::exchange(other.size_, 0)},
      room_{std::exchange(other.room_, 0)}, failed_{other.failed_} {}

SPOTTER_BODY byte_buffer& byte_buffer::operator=(byte_buffer&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(size_, other.size_);
    std::swap(room_, other.room_);
    std::swap(failed_, other.failed_);
    return *this;
}

SPOTTER_BODY std::byte* byte_buffer::prepare(std::size_t count) noexcept {
    if (room_ - size_ < count && !reserve(size_ + count)) { return nullptr; }
    return bytes_ + size_;
}

SPOTTER_BODY bool byte_buffer::append(byte_view more) noexcept {
    std::byte* const into = prepare(more.size());
    if (into == nullptr) { return false; }
    if (!more.empty()) { std::memcpy(into, more.data(), more.size()); }
    size_ += more.size();
    return true;
}

SPOTTER_BODY bool byte_buffer::reserve(std::size_t count) noexcept {
    if (count <= room_) { return true; }
    std::size_t const wanted = count > 2 * room_ ? count : 2 * room_;
    auto* const larger = static_cast<std::byte*>(::operator new(wanted < 64 ? 64 : wanted, std::nothrow));
    if (larger == nullptr) {
        failed_ = true;
        return false;
    }
    if (size_ > 0) { std::memcpy(larger, bytes_, size_); }
    ::operator delete(bytes_);
    bytes_ = larger;
    room_ = wanted < 64 ? 64 : wanted;
    return true;
}

}  // namespace spotter::inline SPOTTER_ABI
