// SPDX-License-Identifier: Apache-2.0
// Response (L5): prints findings, one line each.
#pragma once

#include <spotter/rule/describe.hpp>

#include <cstdio>

namespace spotter::inline SPOTTER_ABI {

// `on(rule, print_finding{})`: to standard error, or another stream.
struct print_finding {
    using responds = void;
    static constexpr std::string_view name = "print_finding";
    std::FILE* stream = nullptr;  // null: standard error

    error operator()(finding const& found) const noexcept;
};

#if SPOTTER_BODIES

SPOTTER_BODY error print_finding::operator()(finding const& found) const noexcept {
    text<1024> line;
    line << "spotter: ";
    describe(found, line);
    line << '\n';
    std::string_view const letters = line.view();
    std::FILE* const into = stream != nullptr ? stream : stderr;
    if (std::fwrite(letters.data(), 1, letters.size(), into) == letters.size() && std::fflush(into) == 0) { return {}; }
    return {errc::io_error, "the stream takes nothing any more"};
}

#endif

}  // namespace spotter::inline SPOTTER_ABI
