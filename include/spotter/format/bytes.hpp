// SPDX-License-Identifier: Apache-2.0
// Format (L1): numbers and texts to bytes and back: little-endian, varints, never outside the given bytes.
#pragma once

#include <spotter/format/fwd.hpp>

#include <cstring>
#include <string_view>
#include <type_traits>

namespace spotter::inline SPOTTER_ABI {

// The bytes of values as they lie in memory: little-endian, as the format has them, on the machines that are supported.
template <class Value>
[[nodiscard]] inline byte_view bytes_of(Value const* values, std::size_t count) noexcept {
    return {reinterpret_cast<std::byte const*>(values), count * sizeof(Value)};
}
// Reads a value at any address, aligned or not; there must be as many bytes as it has.
template <class Value>
    requires std::is_trivially_copyable_v<Value>
[[nodiscard]] inline Value load(std::byte const* from) noexcept {
    Value value{};
    std::memcpy(&value, from, sizeof value);
    return value;
}
// The way back.
template <class Value>
    requires std::is_trivially_copyable_v<Value>
inline void store(std::byte* into, Value value) noexcept {
    std::memcpy(into, &value, sizeof value);
}

// Bytes that a varint takes at most, and the unsigned LEB128 itself: seven bits a byte, lowest first.
inline constexpr std::size_t varint_limit = 10;

// How many bytes a number takes as a varint: 1 to 10.
[[nodiscard]] constexpr std::size_t varint_bytes(std::uint64_t value) noexcept {
    std::size_t count = 1;
    for (; value >= 0x80; value >>= 7) { ++count; }
    return count;
}

// Writes into memory that is known to be large enough: nothing is looked at.
class quick_writer {
public:
    explicit quick_writer(std::byte* into) noexcept : begin_{into}, at_{into} {}

    // As many bytes as the type has, little-endian.
    template <class Value>
        requires(std::is_arithmetic_v<Value> || std::is_enum_v<Value>)
    void fixed(Value value) noexcept {
        std::memcpy(at_, &value, sizeof value);
        at_ += sizeof value;
    }
    void varint(std::uint64_t value) noexcept;  // 1 to 10 bytes
    void raw(byte_view bytes) noexcept;         // as they are, without their number
    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(at_ - begin_); }

private:
    std::byte* begin_;
    std::byte* at_;
};

// Writes into memory of a fixed size. What does not fit is not written, and `full()` says so; ask once, at the end.
class byte_writer {
public:
    byte_writer(std::byte* into, std::size_t room) noexcept : begin_{into}, at_{into}, end_{into + room} {}

    // As many bytes as the type has, little-endian; all of them or none.
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
    void varint(std::uint64_t value) noexcept;   // 1 to 10 bytes, all of them or none
    void raw(byte_view bytes) noexcept;          // as they are, without their number; all or none
    void text(std::string_view value) noexcept;  // its length as a varint, then its letters

    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(at_ - begin_); }
    // Bytes that still fit.
    [[nodiscard]] std::size_t room() const noexcept { return static_cast<std::size_t>(end_ - at_); }
    [[nodiscard]] bool full() const noexcept { return full_; }  // something did not fit: what was written is not whole
    [[nodiscard]] byte_view view() const noexcept { return {begin_, size()}; }  // what was written

private:
    std::byte* begin_;
    std::byte* at_;
    std::byte* end_;
    bool full_ = false;
};

// Reads from memory of a fixed size. Beyond its end, and after a malformed varint, everything reads as zero and `bad()`
// says so: decode all fields, ask once.
class byte_reader {
public:
    explicit byte_reader(byte_view from) noexcept : at_{from.data()}, end_{from.data() + from.size()} {}

    // As many bytes as the type has, little-endian; a floating-point value may be anything, NaN too.
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
    // One spelling a value: more bytes than it needs are malformed, as is what exceeds 64 bits.
    [[nodiscard]] std::uint64_t varint() noexcept;
    // A varint that must not exceed `most`.
    [[nodiscard]] std::uint64_t varint(std::uint64_t most) noexcept;
    // One byte, at most `most`, as an enumerator.
    template <class Enum>
        requires std::is_enum_v<Enum>
    [[nodiscard]] Enum choice(Enum most) noexcept {
        auto const value = fixed<std::uint8_t>();
        if (value <= static_cast<std::uint8_t>(most)) { return static_cast<Enum>(value); }
        fail();
        return Enum{};
    }
    [[nodiscard]] byte_view raw(std::uint64_t count) noexcept;  // the next `count` bytes, in place
    // Points into the bytes that are read.
    [[nodiscard]] std::string_view text() noexcept;

    void fail() noexcept;  // what was read makes no sense: nothing is left, and `bad()`
    [[nodiscard]] bool bad() const noexcept { return bad_; }  // what was read since may be zeros that are not there
    // Bytes that were not read yet; 0 once bad.
    [[nodiscard]] std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }

private:
    std::byte const* at_;
    std::byte const* end_;
    bool bad_ = false;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/format/bytes.ipp>
#endif
