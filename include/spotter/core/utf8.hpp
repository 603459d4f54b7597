// SPDX-License-Identifier: Apache-2.0
// Core (L0): validates UTF-8: names may hold any bytes, and most formats accept only UTF-8.
#pragma once

#include <spotter/core/fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// Calls `put(std::string_view)` with the pieces.
template <class Put>
constexpr void put_quoted(std::string_view letters, Put&& put) {
    put(std::string_view{"\""});
    for (char const& letter : letters) {
        auto const code = static_cast<unsigned char>(letter);
        if (letter == '"' || letter == '\\') { put(std::string_view{"\\"}); }
        if (code < 0x20) {
            char const hex[] = {
                '\\', 'u', '0', '0', static_cast<char>('0' + (code >> 4)), "0123456789abcdef"[code & 15]};
            put(std::string_view{hex, sizeof hex});
        } else {
            put(std::string_view{&letter, 1});
        }
    }
    put(std::string_view{"\""});
}

namespace detail {

// The ranges of the first byte and of the second byte, and the size in bytes (table 3-7 of the Unicode standard). Every
// further byte is between 80 and BF.
struct letter_form {
    std::uint8_t first, last, size, low, high;
};
inline constexpr letter_form letter_forms[] = {
    {0xC2, 0xDF, 2, 0x80, 0xBF}, {0xE0, 0xE0, 3, 0xA0, 0xBF}, {0xE1, 0xEC, 3, 0x80, 0xBF}, {0xED, 0xED, 3, 0x80, 0x9F},
    {0xEE, 0xEF, 3, 0x80, 0xBF}, {0xF0, 0xF0, 4, 0x90, 0xBF}, {0xF1, 0xF3, 4, 0x80, 0xBF}, {0xF4, 0xF4, 4, 0x80, 0x8F}};

// The size in bytes of the UTF-8 character at `at`; 0 if there is none: a wrong first byte, an overlong form, a
// surrogate, a code point above U+10FFFF, or a truncated character.
[[nodiscard]] constexpr std::size_t letter_size(std::string_view text, std::size_t at) noexcept {
    auto const byte = [&](std::size_t i) -> std::uint32_t {
        return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
    };
    if (byte(0) < 0x80) { return 1; }
    for (letter_form const& each : letter_forms) {
        if (byte(0) < each.first || byte(0) > each.last) { continue; }
        if (byte(1) < each.low || byte(1) > each.high) { return 0; }
        for (std::size_t i = 2; i < each.size; ++i) {
            if (byte(i) < 0x80 || byte(i) > 0xBF) { return 0; }
        }
        return each.size;
    }
    return 0;
}

// The text for a byte that is not UTF-8: \xff.
struct shown_byte {
    char letters[4];

    constexpr explicit shown_byte(char byte) noexcept
        : letters{'\\', 'x', "0123456789abcdef"[static_cast<unsigned char>(byte) >> 4],
                  "0123456789abcdef"[static_cast<unsigned char>(byte) & 15]} {}
    [[nodiscard]] constexpr std::string_view view() const noexcept { return {letters, sizeof letters}; }
};

}  // namespace detail

// Converts a text to UTF-8 for output in any format. Each invalid byte becomes \xff, so that different names stay
// different and the byte is visible. Calls `put(std::string_view)` with the pieces. (Replacing it by U+FFFD made
// several names equal.)
template <class Put>
constexpr void put_utf8(std::string_view text, Put&& put) {
    std::size_t begin = 0;  // start of the unchanged piece
    for (std::size_t i = 0; i < text.size();) {
        std::size_t const size = detail::letter_size(text, i);
        i += size;
        if (size != 0) { continue; }
        if (i > begin) { put(text.substr(begin, i - begin)); }
        put(detail::shown_byte{text[i]}.view());
        begin = ++i;
    }
    if (text.size() > begin) { put(text.substr(begin)); }
}

}  // namespace spotter::inline SPOTTER_ABI
