// SPDX-License-Identifier: Apache-2.0
// Command line: a file replaced by another in one step.
#pragma once

#include <spotter/file/file_system.hpp>

#include <string>

namespace spotter_tool {

// Either the old file or the whole new one is there, whatever happens.
[[nodiscard]] inline spotter::error replace_file(spotter::file_system& files, std::string const& path,
                                                 std::span<std::byte const> bytes) {
    std::string const fresh = path + ".new";
    (void)files.remove(fresh);  // of an earlier try that was killed
    auto const file = files.create(fresh);
    if (!file) { return file.error(); }
    spotter::error why = files.append(*file, bytes);
    if (!why) { why = files.sync(*file); }
    spotter::error const closed = files.close(*file);
    if (!why) { why = closed; }
    if (!why) { why = files.rename(fresh, path); }
    if (why) { (void)files.remove(fresh); }
    return why;
}

}  // namespace spotter_tool
