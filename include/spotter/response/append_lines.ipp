// SPDX-License-Identifier: Apache-2.0
// The bodies of append_lines.hpp.
#pragma once

#include <spotter/response/append_lines.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY error append_lines::operator()(finding const& found, response_desk& desk) const noexcept {
    return (*this)(found, desk.origin());
}

SPOTTER_BODY error append_lines::operator()(finding const& found, finding_origin const& from) const noexcept {
    file_system& disk = files != nullptr ? *files : system_files();
    auto const file = disk.open_append(path);
    if (!file) { return file.error(); }
    finding_line const line = json_of(found, from);
    error const why = disk.append(*file, std::as_bytes(std::span{line.view()}));
    error const closed = disk.close(*file);
    return why ? why : closed;
}

}  // namespace spotter::inline SPOTTER_ABI
