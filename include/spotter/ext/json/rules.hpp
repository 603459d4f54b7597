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

// The same from a file, whose path stands first in an error; paths in it are relative to its folder. Also
// errc::io_error.
[[nodiscard]] result<dynamic_rule> load_rules(std::string_view path) noexcept;

// A rule of the catalogue with its defaults, or a pack (supervised, rl, boosting, system, sagemaker), by name.
// errc::bad_config where there is none of that name.
[[nodiscard]] result<dynamic_rule> rule_named(std::string_view name) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/guard.hpp>
#include <spotter/ext/json/text_file.hpp>

#include <string>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY result<dynamic_rule> parse_rules(std::string_view text, std::string_view folder) noexcept {
    result<dynamic_rule> found{errc::out_of_memory, "no memory to read the rules"};
    (void)guarded([&] {
        auto root = detail::parse_json(text);
        if (!root) {
            found = root.error();
        } else if (!root->is_object()) {
            found = error{errc::bad_config, "the rules must be one object: {\"rules\": [...]}"};
        } else {
            found = detail::json_rule_reader{folder}.read(*root);
        }
    });
    return found;
}

SPOTTER_BODY result<dynamic_rule> load_rules(std::string_view path) noexcept {
    result<dynamic_rule> found{errc::out_of_memory, "no memory to read the rules"};
    (void)guarded([&] {
        std::string const name{path};
        auto const text = detail::read_text(name.c_str(), "rules");
        std::size_t const cut = name.rfind('/');
        found = text ? parse_rules(*text, cut == name.npos ? std::string_view{} : path.substr(0, cut + 1))
                     : result<dynamic_rule>{text.error()};
        if (text && !found) { found = detail::in_file(path, found.error()); }
    });
    return found;
}

SPOTTER_BODY result<dynamic_rule> rule_named(std::string_view name) noexcept {
    result<dynamic_rule> found{errc::out_of_memory, "no memory to read the rules"};
    (void)guarded(
        [&] { found = detail::json_rule_reader{""}.read({{"rules", nlohmann::json::array({std::string{name}})}}); });
    return found;
}

}  // namespace spotter::inline SPOTTER_ABI

#endif
