// SPDX-License-Identifier: Apache-2.0
// Shared by tests of recorded runs: files, killed children, and short ways to record a run.
#pragma once

#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <tests/catch.hpp>
#include <tests/temporary_folder.hpp>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#if !defined(_WIN32)
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace Catch {
template <>
struct StringMaker<spotter::step_id> {
    static std::string convert(spotter::step_id step) {
        return std::string{name_of(step.mode)} + "(" + std::to_string(step.index) + ")";
    }
};
}  // namespace Catch

namespace spotter_test {

// For options::flush_milliseconds. Row frames then end only where the loop flushes, on a slow machine too. Needed where
// a test counts frames, or expects something of their places or sizes.
inline constexpr std::uint32_t only_when_asked = 1'000'000;

inline std::vector<char> read_file(std::string const& path) {
    std::vector<char> bytes(static_cast<std::size_t>(std::filesystem::file_size(path)));
    std::FILE* const file = std::fopen(path.c_str(), "rb");
    bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file));
    std::fclose(file);
    return bytes;
}
inline void write_file(std::string const& path, std::vector<char> const& bytes) {
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    if (!bytes.empty()) { std::fwrite(bytes.data(), 1, bytes.size(), file); }
    std::fclose(file);
}

#if !defined(_WIN32)
// Runs `work` in a child that kills itself at the end; waits for it.
template <class Work>
void in_killed_child(Work&& work) {
    pid_t const child = ::fork();
    if (child == 0) {
        work();
        ::_exit(1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    REQUIRE(WIFSIGNALED(status));
}
#endif

inline spotter::trial open(std::string_view path) {
    auto run = spotter::open_trial(path);
    if (!run) { FAIL(std::string{run.error().what.view()}); }
    return std::move(*run);
}

using ids = std::vector<spotter::step_id>;
using names_list = std::vector<std::string>;

// train(first), train(first + by), ... below end
inline ids trains(std::uint64_t first, std::uint64_t end, std::uint64_t by = 1) {
    ids list;
    for (std::uint64_t i = first; i < end; i += by) { list.push_back(spotter::train(i)); }
    return list;
}

inline bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

inline constexpr spotter::plan everything{spotter::collection{"all", "*", spotter::always{}, spotter::payload}};

}  // namespace spotter_test
