// SPDX-License-Identifier: Apache-2.0
// Format (L1): bytes that grow at their end, without exceptions: where memory is exhausted, `failed()` says so.
#pragma once

#include <spotter/format/fwd.hpp>

#include <cstring>
#include <new>
#include <utility>

namespace spotter::inline SPOTTER_ABI {

// Owns its bytes. A refused growth is sticky until `clear`, and nothing is written by it.
class byte_buffer {
public:
    byte_buffer() noexcept = default;
    byte_buffer(byte_buffer&& other) noexcept
        : bytes_{std::exchange(other.bytes_, nullptr)}, size_{std::exchange(other.size_, 0)},
          room_{std::exchange(other.room_, 0)}, failed_{other.failed_} {}
    byte_buffer& operator=(byte_buffer&& other) noexcept {
        std::swap(bytes_, other.bytes_);
        std::swap(size_, other.size_);
        std::swap(room_, other.room_);
        std::swap(failed_, other.failed_);
        return *this;
    }
    ~byte_buffer() { ::operator delete(bytes_); }

    // Room for `count` more bytes at the end, or null; `grow_by` then takes what was written there.
    [[nodiscard]] std::byte* prepare(std::size_t count) noexcept {
        if (room_ - size_ < count && !reserve(size_ + count)) { return nullptr; }
        return bytes_ + size_;
    }
    void grow_by(std::size_t count) noexcept { size_ += count; }

    bool append(byte_view more) noexcept {
        std::byte* const into = prepare(more.size());
        if (into == nullptr) { return false; }
        if (!more.empty()) { std::memcpy(into, more.data(), more.size()); }
        size_ += more.size();
        return true;
    }
    bool reserve(std::size_t count) noexcept {
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
    void clear() noexcept { size_ = 0, failed_ = false; }
    void cut(std::size_t size) noexcept { size_ = size < size_ ? size : size_; }

    [[nodiscard]] std::byte* data() noexcept { return bytes_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] bool failed() const noexcept { return failed_; }
    [[nodiscard]] byte_view view() const noexcept { return {bytes_, size_}; }

private:
    std::byte* bytes_ = nullptr;
    std::size_t size_ = 0;
    std::size_t room_ = 0;
    bool failed_ = false;
};

}  // namespace spotter::inline SPOTTER_ABI
