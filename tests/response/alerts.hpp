// SPDX-License-Identifier: Apache-2.0
// Shared by tests of responses: a rule that fires, a step, the output of a command, and a command that copies its
// standard input.
#pragma once

#include <tests/trial/runs.hpp>

#include <spotter/response.hpp>

#include <chrono>
#include <string>
#include <thread>

namespace spotter_test {

constexpr auto high = spotter::any("x", spotter::maximum > 1.0);

template <class Hook>
spotter::decision one_step(Hook& watch, std::uint64_t i, double x) {
    using namespace spotter::literals;
    return watch.step(spotter::train(i), "x"_t = x).decision();
}
inline std::string text_of(std::string const& path) {
    if (!std::filesystem::exists(path)) { return {}; }
    std::vector<char> const bytes = read_file(path);
    return {bytes.begin(), bytes.end()};
}
// A JSON line without its time, which differs between two responses.
inline std::string without_time(std::string line) {
    std::size_t const at = line.find("\"time\": ");
    return at == line.npos ? line : line.erase(at, line.find(", \"detail\"", at) - at);
}
// The output of a command, once `bytes` of it are there.
inline std::string wait_for(std::string const& path, std::size_t bytes) {
    for (int i = 0; i < 500 && text_of(path).size() < bytes; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    return text_of(path);
}

#if defined(_WIN32)
// The command that runs this executable's hidden test case of commands_windows.cpp, with a value for it.
std::string asked_for(std::string_view test, std::string const& reported);
inline std::string copy_of_input(std::string const& path) {
    return asked_for("a command that keeps its standard input", path);
}
constexpr auto begin_of_comment = "& rem ";  // in a command, behind another
#else
constexpr auto begin_of_comment = " #";
inline std::string copy_of_input(std::string const& path) {
    return "cat > '" + path + ".part'; mv '" + path + ".part' '" + path + "'";
}
#endif

}  // namespace spotter_test
