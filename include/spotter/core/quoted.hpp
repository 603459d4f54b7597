// SPDX-License-Identifier: Apache-2.0
// Core (L0): a text as a JSON string: in quotes, with escapes.
#pragma once

#include <spotter/core/fwd.hpp>

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

}  // namespace spotter::inline SPOTTER_ABI
