// SPDX-License-Identifier: Apache-2.0
// Format (L1): converts numbers and texts to bytes and back: little-endian, varints, with bounds checks.
#pragma once

#include <spotter/format/fwd.hpp>

#include <cstring>
#include <string_view>
#include <type_traits>

namespace spotter::inline SPOTTER_ABI {

// The bytes of values in memory. Supported machines are little-endian, like the format.
template <class Value>
[[nodiscard]] inline byte_view bytes_of(Value const* values, std::size_t count) noexcept {
    return {reinterpret_cast<std::byte const*>(values), count * sizeof(Value)};
}
// Reads a value from any address, aligned or not; its bytes must all be readable.
template <class Value>
    requires std::is_trivially_copyable_v<Value>
[[nodiscard]] inline Value load(std::byte const* from) noexcept {
    Value value{};
    std::memcpy(&value, from, sizeof value);
    return value;
}
// Writes a value to any address.
template <class Value>
    requires std::is_trivially_copyable_v<Value>
inline void store(std::byte* into, Value value) noexcept {
    std::memcpy(into, &value, sizeof value);
}

// The most bytes of a varint, an unsigned LEB128: seven bits a byte, lowest first.
inline constexpr std::size_t varint_limit = 10;

// The size of a number as a varint: 1 to 10 bytes.
[[nodiscard]] constexpr std::size_t varint_bytes(std::uint64_t value) noexcept {
    std::size_t count = 1;
    for (; value >= 0x80; value >>= 7) { ++count; }
    return count;
}

// Writes without bounds checks: the memory must be large enough.
class quick_writer {
public:
    explicit quick_writer(std::byte* into) noexcept : begin_{into}, at_{into} {}

    // Little-endian, in the size of its type.
    template <class Value>
        requires(std::is_arithmetic_v<Value> || std::is_enum_v<Value>)
    void fixed(Value value) noexcept {
        std::memcpy(at_, &value, sizeof value);
        at_ += sizeof value;
    }
    void varint(std::uint64_t value) noexcept;  // 1 to 10 bytes
    void raw(byte_view bytes) noexcept;         // without a length
    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(at_ - begin_); }

private:
    std::byte* begin_;
    std::byte* at_;
};

// Writes to memory of a fixed size. What does not fit is not written; check `full()` once, at the end.
class byte_writer {
public:
    byte_writer(std::byte* into, std::size_t room) noexcept : begin_{into}, at_{into}, end_{into + room} {}

    // Little-endian, in the size of its type; completely or not at all.
    template <class Value>
        requires(std::is_arithmetic_v<Value> || std::is_enum_v<Value>)
    void fixed(Value value) noexcept {
        if (room() < sizeof value) {
            full_ = true;
            return;
        }
        std::memcpy(at_, &value, sizeof value);
        at_ += sizeof value;
    }
    void varint(std::uint64_t value) noexcept;   // 1 to 10 bytes, completely or not at all
    void raw(byte_view bytes) noexcept;          // without a length; completely or not at all
    void text(std::string_view value) noexcept;  // its length as a varint, then its bytes

    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(at_ - begin_); }
    // Bytes that still fit.
    [[nodiscard]] std::size_t room() const noexcept { return static_cast<std::size_t>(end_ - at_); }
    [[nodiscard]] bool full() const noexcept { return full_; }  // something did not fit: the output is incomplete
    [[nodiscard]] byte_view view() const noexcept { return {begin_, size()}; }  // the output

private:
    std::byte* begin_;
    std::byte* at_;
    std::byte* end_;
    bool full_ = false;
};

// Reads from memory of a fixed size. Beyond its end, and after a malformed varint, everything reads as zero and `bad()`
// is true: decode all fields, then check once.
class byte_reader {
public:
    explicit byte_reader(byte_view from) noexcept : at_{from.data()}, end_{from.data() + from.size()} {}

    // Little-endian, in the size of its type; a floating-point value may be NaN.
    template <class Value>
        requires(std::is_arithmetic_v<Value>)
    [[nodiscard]] Value fixed() noexcept {
        Value value{};
        if (left() < sizeof value) {
            fail();
            return value;
        }
        std::memcpy(&value, at_, sizeof value);
        at_ += sizeof value;
        return value;
    }
    // Only the shortest encoding is valid: more bytes than needed, or more than 64 bits, are malformed.
    [[nodiscard]] std::uint64_t varint() noexcept;
    // A varint; above `most` it is malformed.
    [[nodiscard]] std::uint64_t varint(std::uint64_t most) noexcept;
    // One byte as an enumerator; above `most` it is malformed.
    template <class Enum>
        requires std::is_enum_v<Enum>
    [[nodiscard]] Enum choice(Enum most) noexcept {
        auto const value = fixed<std::uint8_t>();
        if (value <= static_cast<std::uint8_t>(most)) { return static_cast<Enum>(value); }
        fail();
        return Enum{};
    }
    [[nodiscard]] byte_view raw(std::uint64_t count) noexcept;  // a view of the next `count` bytes
    // A view of the bytes that are read.
    [[nodiscard]] std::string_view text() noexcept;

    void fail() noexcept;  // the input makes no sense: discards the rest and sets `bad()`
    [[nodiscard]] bool bad() const noexcept { return bad_; }  // values read since may be substituted zeros
    // Bytes left to read; 0 once bad.
    [[nodiscard]] std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }

private:
    std::byte const* at_;
    std::byte const* end_;
    bool bad_ = false;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/casts.hpp>

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

#endif
