// SPDX-License-Identifier: Apache-2.0
// The bodies of csv.hpp.
#pragma once

#include <spotter/export/csv.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY std::string csv_field(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == text.npos) { return std::string{text}; }
    std::string quoted{'"'};
    for (char const letter : text) {
        quoted += letter;
        if (letter == '"') { quoted += '"'; }
    }
    return quoted + '"';
}

}  // namespace spotter::inline SPOTTER_ABI
