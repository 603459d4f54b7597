// SPDX-License-Identifier: Apache-2.0
// Core (L0): text from a program, made safe for a terminal: a name must not move the cursor, change colours or reverse
// the writing direction.
#pragma once

#include <spotter/core/utf8.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// The size in bytes of the harmless character at `at`; 0 if there is none. Not harmless are control characters (also
// U+0080 to U+009F: some terminals take 0x9B as the start of a sequence), marks that change the writing direction or
// end a line, and invalid UTF-8.
[[nodiscard]] constexpr std::size_t plain_letter_size(std::string_view text, std::size_t at) noexcept {
    std::size_t const size = letter_size(text, at);
    auto const byte = [&](std::size_t i) -> std::uint32_t { return static_cast<unsigned char>(text[at + i]); };
    if (size == 1) { return byte(0) >= 0x20 && byte(0) != 0x7F ? 1 : 0; }
    std::uint32_t const code = size == 2   ? (byte(0) & 0x1FU) << 6U | (byte(1) & 0x3FU)
                               : size == 3 ? (byte(0) & 0x0FU) << 12U | (byte(1) & 0x3FU) << 6U | (byte(2) & 0x3FU)
                                           : 0U;
    bool const turns = code == 0x61C || code == 0x200E || code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
                       (code >= 0x2066 && code <= 0x2069);
    return turns || (size == 2 && code < 0xA0) ? 0 : size;
}

}  // namespace detail

// Calls `put(std::string_view)` with the pieces: harmless characters unchanged, each other byte as \x1b.
template <class Put>
constexpr void put_plain(std::string_view text, Put&& put) {
    std::size_t begin = 0;  // start of the unchanged piece
    for (std::size_t i = 0; i < text.size();) {
        if (std::size_t const size = detail::plain_letter_size(text, i); size != 0) {
            i += size;
            continue;
        }
        put(text.substr(begin, i - begin));
        std::size_t const whole = detail::letter_size(text, i);
        for (std::size_t const end = i + (whole == 0 ? 1 : whole); i < end; ++i) {
            auto const byte = static_cast<unsigned char>(text[i]);
            char const shown[] = {'\\', 'x', "0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
            put(std::string_view{shown, sizeof shown});
        }
        begin = i;
    }
    put(text.substr(begin));
}

}  // namespace spotter::inline SPOTTER_ABI
