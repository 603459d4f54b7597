// SPDX-License-Identifier: Apache-2.0
// Response (L5): findings appended to a file, one line of JSON each.
#pragma once

#include <spotter/file/system.hpp>
#include <spotter/response/finding_json.hpp>

namespace spotter::inline SPOTTER_ABI {

// `on(rule, append_lines{"alerts.jsonl"})`. The file is made if it is missing, and opened for each finding, so it may
// be moved or removed meanwhile; several processes may append to one. The path must outlive the hook; a literal does.
struct append_lines {
    using responds = void;
    static constexpr std::string_view name = "append_lines";
    std::string_view path;         // of the file; not owned
    file_system* files = nullptr;  // null: the machine's

    error operator()(finding const& found, response_desk& desk) const noexcept;
    error operator()(finding const& found, finding_origin const& from = {}) const noexcept;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/response/append_lines.ipp>
#endif
