// SPDX-License-Identifier: Apache-2.0
// The bodies of print.hpp.
#pragma once

#include <spotter/response/print.hpp>

namespace spotter::inline SPOTTER_ABI {

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

}  // namespace spotter::inline SPOTTER_ABI
