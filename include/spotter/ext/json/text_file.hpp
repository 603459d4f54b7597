// SPDX-License-Identifier: Apache-2.0
// Ext (L6), part of ext/json.hpp and ext/json/rules.hpp: the text of a file, and its JSON.
#pragma once

#include <spotter/core/result.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace spotter::inline SPOTTER_ABI::detail {

// At most 64 MiB. `what` names the content in errors.
[[nodiscard]] result<std::string> read_text(char const* path, std::string_view what) noexcept;

// Allows comments; refuses duplicate keys and deep nesting. May throw where memory is exhausted.
[[nodiscard]] result<nlohmann::json> parse_json(std::string_view text);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/ext/json/text_file.ipp>
#endif
