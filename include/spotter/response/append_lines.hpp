// SPDX-License-Identifier: Apache-2.0
// Response (L5): findings appended to a file, one line of JSON each.
#pragma once

#include <spotter/file/system.hpp>
#include <spotter/response/finding_json.hpp>

namespace spotter::inline SPOTTER_ABI {

// `on(rule, append_lines{"alerts.jsonl"})`. Creates the file if it is missing, and opens it for each finding, so that
// it may be moved or removed meanwhile. Several processes may append to one file. The path must outlive the hook; a
// literal does.
struct append_lines {
    using responds = void;
    static constexpr std::string_view name = "append_lines";
    std::string_view path;         // of the file; not owned
    file_system* files = nullptr;  // null: those of the operating system

    error operator()(finding const& found, response_desk& desk) const noexcept;
    error operator()(finding const& found, finding_origin const& from = {}) const noexcept;
};

#if SPOTTER_BODIES

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

#endif

}  // namespace spotter::inline SPOTTER_ABI
