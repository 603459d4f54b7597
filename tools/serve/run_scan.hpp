// SPDX-License-Identifier: Apache-2.0
// Command line, `serve`: which runs lie below a folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace spotter_tool::live {

// A folder that holds a run.
struct found_run {
    std::string name{};       // its path below the root, "sweep/3"; "." is the root itself
    std::string path{};       // to open it by
    std::uint64_t stamp = 0;  // changes when files of it appear, grow or go
    std::uint64_t bytes = 0;  // of its files
    double changed = 0;       // when its newest file did; seconds since 1970
    std::string refused{};    // why it is not opened; empty: it is
};

struct run_scan {
    std::vector<found_run> runs{};  // by name
    std::uint64_t links = 0;        // links to folders that were not followed
    bool cut = false;               // there are more folders than are looked into
    std::string trouble{};          // the root cannot be read: why
};

// Looks at names and sizes, and opens nothing. No link is followed below the root: what is not in the folder is not
// shown. A run in which a file of the record is a link is refused for the same reason.
[[nodiscard]] run_scan scan_runs(std::string const& root);

}  // namespace spotter_tool::live
