// SPDX-License-Identifier: Apache-2.0
// Trial (L4): iterates over the recorded environment of a program.
#pragma once

#include <spotter/config.hpp>

#include <cstddef>
#include <string_view>

namespace spotter::inline SPOTTER_ABI::detail {

// Calls use(key, value) for each line of trial::environment().
template <class Use>
constexpr void each_environment_line(std::string_view all, Use&& use) {
    while (!all.empty()) {
        std::size_t const end = all.find('\n');
        std::string_view const line = all.substr(0, end);
        std::size_t const blank = line.find(' ');
        use(line.substr(0, blank), blank == line.npos ? std::string_view{} : line.substr(blank + 1));
        all.remove_prefix(end == all.npos ? all.size() : end + 1);
    }
}

}  // namespace spotter::inline SPOTTER_ABI::detail
