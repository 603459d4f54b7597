// SPDX-License-Identifier: Apache-2.0
// Plan (L2), opt-in: names by regular expression (ECMAScript, unanchored search), as SageMaker Debugger's include_regex.
#pragma once

#include <spotter/core/describe.hpp>

#include <regex>

#if !SPOTTER_EXCEPTIONS
#error "spotter/plan/regex.hpp needs exceptions: a malformed std::regex ends the program without them. Use a glob."
#endif

namespace spotter::inline SPOTTER_ABI {

// Holds the text, which must outlive it. Compiled when a tensor is declared, never in a step. A malformed expression is
// errc::bad_pattern when the hook starts.
struct regex {
    using kind = pattern_kind;
    std::string_view pattern{};

    constexpr regex(char const* text) noexcept : pattern{text} {}
    constexpr explicit regex(std::string_view text) noexcept : pattern{text} {}

    [[nodiscard]] bool well_formed() const noexcept {
        try {
            std::regex const compiled{pattern.begin(), pattern.end(), std::regex::ECMAScript};
            return true;
        } catch (...) { return false; }
    }
    [[nodiscard]] bool operator()(tensor_info const& tensor) const noexcept {
        try {
            std::regex const compiled{pattern.begin(), pattern.end(), std::regex::ECMAScript};
            return std::regex_search(tensor.name.begin(), tensor.name.end(), compiled);
        } catch (...) { return false; }
    }
};
constexpr void describe(regex const& it, sentence& out) noexcept { out << "regex{\"" << it.pattern << "\"}"; }

}  // namespace spotter::inline SPOTTER_ABI
