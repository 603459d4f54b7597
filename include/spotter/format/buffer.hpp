// SPDX-License-Identifier: Apache-2.0
// Format (L1): a growing buffer of bytes without exceptions: `failed()` reports exhausted memory.
#pragma once

#include <spotter/format/fwd.hpp>

namespace spotter::inline SPOTTER_ABI {

// Owns its bytes. After a failed growth nothing is written until `clear`.
class byte_buffer {
public:
    byte_buffer() noexcept = default;
    byte_buffer(byte_buffer&& other) noexcept;
    byte_buffer& operator=(byte_buffer&& other) noexcept;
    ~byte_buffer() { ::operator delete(bytes_); }

    // Room for `count` more bytes at the end, or null. `grow_by` then adds what was written there. May move the bytes,
    // as `append` and `reserve` do.
    [[nodiscard]] std::byte* prepare(std::size_t count) noexcept;
    void grow_by(std::size_t count) noexcept { size_ += count; }  // at most what was prepared

    bool append(byte_view more) noexcept;                  // all of it; or nothing, and false
    bool reserve(std::size_t count) noexcept;              // room for `count` bytes in total; false: no memory
    void clear() noexcept { size_ = 0, failed_ = false; }  // keeps the memory
    void cut(std::size_t size) noexcept { size_ = size < size_ ? size : size_; }  // keeps the first `size` bytes

    [[nodiscard]] std::byte* data() noexcept { return bytes_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] bool failed() const noexcept { return failed_; }  // memory was exhausted since the last clear
    [[nodiscard]] byte_view view() const noexcept { return {bytes_, size_}; }  // valid until it grows or is destroyed

private:
    std::byte* bytes_ = nullptr;
    std::size_t size_ = 0;
    std::size_t room_ = 0;
    bool failed_ = false;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
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

#endif
