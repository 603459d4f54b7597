// SPDX-License-Identifier: Apache-2.0
// The bodies of csv.hpp.
#pragma once

#include <spotter/export/csv.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY std::string csv_field(std::string_view text) {
    constexpr std::string_view formula = "=+-@\t\r\n";
    std::string field = !text.empty() && formula.find(text.front()) != formula.npos ? "'" : "";
    field += utf8_text(text);
    if (field.find_first_of(",\"\r\n") == field.npos) { return field; }
    std::string quoted{'"'};
    for (char const letter : field) {
        quoted += letter;
        if (letter == '"') { quoted += '"'; }
    }
    return quoted + '"';
}

}  // namespace spotter::inline SPOTTER_ABI
