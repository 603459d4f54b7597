// SPDX-License-Identifier: Apache-2.0
// Windows, where nothing forks: this executable as another process, asked for a hidden test case.
#pragma once

#include <spotter/file/windows_api.hpp>

#include <cstdlib>
#include <string>
#include <string_view>

namespace spotter_test {

inline std::string this_program() {
    char path[4 * MAX_PATH]{};
    (void)::GetModuleFileNameA(nullptr, path, sizeof path - 1);
    return path;
}

// What whoever asked for the test case told it.
inline constexpr char const* told_by = "SPOTTER_TEST_TOLD";
inline std::string told() {
    char const* const text = std::getenv(told_by);
    return text != nullptr ? text : "";
}

}  // namespace spotter_test
