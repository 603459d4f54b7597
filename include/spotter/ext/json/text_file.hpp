// SPDX-License-Identifier: Apache-2.0
// Ext (L6), part of ext/json.hpp and ext/json/rules.hpp: the text of a file, and what it says as JSON.
#pragma once

#include <spotter/core/result.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace spotter::inline SPOTTER_ABI::detail {

// Of 64 MiB at most. `what` it holds, for the error.
[[nodiscard]] result<std::string> read_text(char const* path, std::string_view what) noexcept;

// With comments; nothing given twice, nothing nested too deeply. May throw for want of memory.
[[nodiscard]] result<nlohmann::json> parse_json(std::string_view text);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/ext/json/text_file.ipp>
#endif
