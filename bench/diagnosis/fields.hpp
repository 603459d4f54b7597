// SPDX-License-Identifier: Apache-2.0
// Fields of the lines of a table in a file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace diagnosis {

// No field of ours holds a comma, a semicolon or a bar; a reason that does has it replaced.
[[nodiscard]] inline std::string plain(std::string_view text) {
    std::string made{text};
    for (char& each : made) { each = each == ',' || each == ';' || each == '|' || each == '\n' ? ' ' : each; }
    return made;
}

// The parts of a line between these letters.
[[nodiscard]] inline std::vector<std::string> parts_of(std::string const& line, char between) {
    std::vector<std::string> made{{}};
    for (char const each : line) {
        if (each == between) {
            made.emplace_back();
        } else {
            made.back() += each;
        }
    }
    return made;
}

}  // namespace diagnosis
