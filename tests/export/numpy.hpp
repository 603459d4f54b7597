// SPDX-License-Identifier: Apache-2.0
// Asks NumPy, if a Python with it is installed, what it reads in a file.
#pragma once

#include <tests/trial/runs.hpp>

#include <array>
#include <optional>

namespace spotter_test {

// The command of a Python with NumPy, empty if there is none. SPOTTER_PYTHON names another than the system's.
inline std::string python_with_numpy() {
    char const* const chosen = std::getenv("SPOTTER_PYTHON");
    for (std::string const& each :
         {std::string{chosen != nullptr ? chosen : "/usr/bin/python3"}, std::string{"python3"}}) {
        if (std::system((each + " -c 'import numpy' >/dev/null 2>&1").c_str()) == 0) { return each; }
    }
    return {};
}

// The output of a Python program; `file` is its first argument.
inline std::string ask_python(std::string const& python, std::string const& folder, std::string const& file,
                              std::string_view program) {
    std::string const script = folder + "/ask.py";
    write_file(script, {program.begin(), program.end()});
    std::FILE* const pipe = ::popen((python + " '" + script + "' '" + file + "' 2>&1").c_str(), "r");
    std::string text;
    std::array<char, 4096> piece{};
    for (std::size_t got = 1; got > 0;) {
        got = std::fread(piece.data(), 1, piece.size(), pipe);
        text.append(piece.data(), got);
    }
    return ::pclose(pipe) == 0 ? text : "failed: " + text;
}

}  // namespace spotter_test
