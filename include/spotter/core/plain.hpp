// SPDX-License-Identifier: Apache-2.0
// Core (L0): text of a program's as it may go to a terminal: a name must not move the cursor or change colours.
#pragma once

#include <spotter/core/utf8.hpp>

namespace spotter::inline SPOTTER_ABI {

// Calls `put(std::string_view)` with the pieces: letters as they are; control characters, and bytes that are no UTF-8, as \x1b.
template <class Put>
constexpr void put_plain(std::string_view text, Put&& put) {
    std::size_t begin = 0;  // of what is put as it is
    for (std::size_t i = 0; i < text.size();) {
        std::size_t const size = detail::letter_size(text, i);
        auto const code = static_cast<unsigned char>(text[i]);
        // U+0080 to U+009F are controls as well: some terminals take 0x9B for the beginning of a sequence.
        bool const upper = size == 2 && code == 0xC2 && static_cast<unsigned char>(text[i + 1]) < 0xA0;
        if (size != 0 && code >= 0x20 && code != 0x7F && !upper) {
            i += size;
            continue;
        }
        put(text.substr(begin, i - begin));
        for (std::size_t const end = i + (upper ? 2U : 1U); i < end; ++i) {
            auto const byte = static_cast<unsigned char>(text[i]);
            char const shown[] = {'\\', 'x', "0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
            put(std::string_view{shown, sizeof shown});
        }
        begin = i;
    }
    put(text.substr(begin));
}

}  // namespace spotter::inline SPOTTER_ABI
