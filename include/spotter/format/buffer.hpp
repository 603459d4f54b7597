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
#include <spotter/format/buffer.ipp>
#endif
