// SPDX-License-Identifier: Apache-2.0
// The bodies of bytes.hpp.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/format/bytes.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY void quick_writer::varint(std::uint64_t value) noexcept {
    for (; value >= 0x80; value >>= 7) { *at_++ = static_cast<std::byte>(value | 0x80); }
    *at_++ = static_cast<std::byte>(value);
}

SPOTTER_BODY void quick_writer::raw(byte_view bytes) noexcept {
    if (!bytes.empty()) { std::memcpy(at_, bytes.data(), bytes.size()); }
    at_ += bytes.size();
}

SPOTTER_BODY void byte_writer::varint(std::uint64_t value) noexcept {
    if (room() < varint_limit && room() < varint_bytes(value)) {
        full_ = true;
        return;
    }
    for (; value >= 0x80; value >>= 7) { *at_++ = static_cast<std::byte>(value | 0x80); }
    *at_++ = static_cast<std::byte>(value);
}

SPOTTER_BODY void byte_writer::raw(byte_view bytes) noexcept {
    if (room() < bytes.size()) {
        full_ = true;
        return;
    }
    if (!bytes.empty()) { std::memcpy(at_, bytes.data(), bytes.size()); }
    at_ += bytes.size();
}

SPOTTER_BODY void byte_writer::text(std::string_view value) noexcept {
    varint(value.size());
    raw(bytes_of(value.data(), value.size()));
}

SPOTTER_BODY std::uint64_t byte_reader::varint() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && at_ != end_; shift += 7) {
        auto const byte = static_cast<std::uint64_t>(*at_++);
        if (shift == 63 && byte > 1) { break; }
        value |= (byte & 0x7F) << shift;
        if (byte < 0x80) {
            if (byte == 0 && shift > 0) { break; }  // not the shortest encoding
            return value;
        }
    }
    fail();
    return 0;
}

SPOTTER_BODY std::uint64_t byte_reader::varint(std::uint64_t most) noexcept {
    std::uint64_t const value = varint();
    if (value <= most) { return value; }
    fail();
    return 0;
}

SPOTTER_BODY byte_view byte_reader::raw(std::uint64_t count) noexcept {
    if (left() < count) {
        fail();
        return {};
    }
    byte_view const bytes{at_, as_size(count)};
    at_ += count;
    return bytes;
}

SPOTTER_BODY std::string_view byte_reader::text() noexcept {
    byte_view const bytes = raw(varint());
    return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

SPOTTER_BODY void byte_reader::fail() noexcept {
    bad_ = true;
    at_ = end_;
}

}  // namespace spotter::inline SPOTTER_ABI
