// SPDX-License-Identifier: Apache-2.0
// Core (L0): the error in a pattern, and its position.
#pragma once

#include <spotter/core/text.hpp>

#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// Longer patterns are refused: this limits the cost of a match, which is pattern times name.
inline constexpr std::size_t longest_pattern = 16 * 1024;

// The fault of a malformed pattern; empty if there is none. Converts to the pattern's text. The views live as long as
// the pattern.
struct pattern_fault {
    std::string_view pattern{};  // its text
    std::string_view why{};      // the fault; empty if unknown
    std::size_t at = 0;          // position in `pattern`, from 0

    constexpr pattern_fault() noexcept = default;
    constexpr pattern_fault(std::string_view text, std::string_view reason = {}, std::size_t place = 0) noexcept
        : pattern{text}, why{reason}, at{place} {}
    constexpr pattern_fault(char const* text) noexcept : pattern{text} {}
    [[nodiscard]] constexpr bool empty() const noexcept { return pattern.empty(); }
    // The pattern's text.
    constexpr operator std::string_view() const noexcept { return pattern; }
    friend constexpr bool operator==(pattern_fault const& it, std::string_view text) noexcept {
        return it.pattern == text;
    }
};

// For example `"grad/(" (at 5: the ( is not closed)`. A long pattern is cut.
template <std::size_t Capacity>
constexpr text<Capacity>& operator<<(text<Capacity>& out, pattern_fault const& it) noexcept {
    constexpr std::size_t shown = 60;
    out << '"' << it.pattern.substr(0, shown) << (it.pattern.size() > shown ? "...\"" : "\"");
    if (!it.why.empty()) { out << " (at " << it.at << ": " << it.why << ')'; }
    return out;
}

}  // namespace spotter::inline SPOTTER_ABI
