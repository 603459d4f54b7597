// SPDX-License-Identifier: Apache-2.0
// Command line, `serve`: finds the runs below a folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace spotter_tool::live {

// A folder with a run.
struct found_run {
    std::string name{};       // its path relative to the root, "sweep/3"; "." is the root itself
    std::string path{};       // for opening it
    std::uint64_t stamp = 0;  // changes when its files appear, grow or vanish
    std::uint64_t bytes = 0;  // total size of its files
    double changed = 0;       // time of its newest file; seconds since 1970
    std::string refused{};    // why it must not be opened; empty: it may be
};

struct run_scan {
    std::vector<found_run> runs{};  // by name
    std::uint64_t links = 0;        // links to folders, which were not followed
    bool cut = false;               // there are more folders than the limit
    std::string trouble{};          // why the root cannot be read
};

// Reads names and sizes only, and opens nothing. It follows no link below the root, so that nothing outside the folder
// is shown. For the same reason a run with a linked record file is refused.
[[nodiscard]] run_scan scan_runs(std::string const& root);

}  // namespace spotter_tool::live
