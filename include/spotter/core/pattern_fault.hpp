// SPDX-License-Identifier: Apache-2.0
// Core (L0): what is wrong with a pattern, and where in it.
#pragma once

#include <spotter/core/text.hpp>

#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// Patterns longer than this are refused, so that asking for a name costs pattern times name and no more.
inline constexpr std::size_t longest_pattern = 16 * 1024;

// A malformed pattern, or nothing: then it is empty. Stands for the text of the pattern wherever a text is wanted. The
// views live as long as the pattern.
struct pattern_fault {
    std::string_view pattern{};  // its text
    std::string_view why{};      // empty where whoever found it does not say
    std::size_t at = 0;          // the character that it is about, counted from 0

    constexpr pattern_fault() noexcept = default;
    constexpr pattern_fault(std::string_view text, std::string_view reason = {}, std::size_t place = 0) noexcept
        : pattern{text}, why{reason}, at{place} {}
    constexpr pattern_fault(char const* text) noexcept : pattern{text} {}
    [[nodiscard]] constexpr bool empty() const noexcept { return pattern.empty(); }
    // That text.
    constexpr operator std::string_view() const noexcept { return pattern; }
    friend constexpr bool operator==(pattern_fault const& it, std::string_view text) noexcept {
        return it.pattern == text;
    }
};

// `"grad/(" (at 5: the ( is not closed)`. Of a long pattern only the beginning.
template <std::size_t Capacity>
constexpr text<Capacity>& operator<<(text<Capacity>& out, pattern_fault const& it) noexcept {
    constexpr std::size_t shown = 60;
    out << '"' << it.pattern.substr(0, shown) << (it.pattern.size() > shown ? "...\"" : "\"");
    if (!it.why.empty()) { out << " (at " << it.at << ": " << it.why << ')'; }
    return out;
}

}  // namespace spotter::inline SPOTTER_ABI
