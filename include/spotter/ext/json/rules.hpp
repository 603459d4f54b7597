// SPDX-License-Identifier: Apache-2.0
// Ext (L6): rules from a file, with nlohmann_json 3.10 or later. docs/settings.md#rules describes the form. It compiles
// the whole catalogue: include it in one file of a program, and pass on the dynamic_rule.
#pragma once

#include <spotter/ext/json/inspector.hpp>
#include <spotter/ext/json/rule_reader.hpp>

#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// The rules of a text as one rule, as if joined by `||`; or the first error in it, with key and position:
// errc::bad_config or errc::bad_pattern. Paths in it are relative to `folder`. Comments (// and /* */) are allowed. The
// same rule can be used in a hook and in any replay, and copies in several threads. Texts of findings live as long as
// one of the copies.
[[nodiscard]] result<dynamic_rule> parse_rules(std::string_view text, std::string_view folder = {}) noexcept;

// The same from a file; paths in it are relative to its folder. Also errc::io_error.
[[nodiscard]] result<dynamic_rule> load_rules(std::string_view path) noexcept;

// A rule of the catalogue with its defaults, or a pack (supervised, rl, boosting, system, sagemaker), by name.
// errc::bad_config where there is none of that name.
[[nodiscard]] result<dynamic_rule> rule_named(std::string_view name) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/ext/json/rules.ipp>
#endif
