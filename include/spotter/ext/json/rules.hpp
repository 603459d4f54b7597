// SPDX-License-Identifier: Apache-2.0
// Ext (L6): rules from a file, with nlohmann_json 3.10 or later. The form is described in docs/settings.md#rules. It brings the whole
// catalogue with it: include it in one file of a program, and hand the dynamic_rule on.
#pragma once

#include <spotter/ext/json/inspector.hpp>
#include <spotter/ext/json/rule_reader.hpp>
#include <spotter/ext/json/text_file.hpp>
#include <spotter/core/guard.hpp>

#include <string>
#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// The rules of a text as one, as if joined by `||`; or the first thing that is wrong with it: errc::bad_config or errc::bad_pattern,
// naming key and place. Paths in it are relative to `folder`. Comments (// and /* */) are allowed. The same rules run in a hook and in any replay,
// and copies may run in several threads; texts of findings live as long as one of them.
[[nodiscard]] inline result<dynamic_rule> parse_rules(std::string_view text, std::string_view folder = {}) noexcept {
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

// The same from a file; paths in it are relative to its folder. Also errc::io_error.
[[nodiscard]] inline result<dynamic_rule> load_rules(std::string_view path) noexcept {
    result<dynamic_rule> found{errc::out_of_memory, "no memory to read the rules"};
    (void)guarded([&] {
        std::string const name{path};
        auto const text = detail::read_text(name.c_str(), "rules");
        std::size_t const cut = name.rfind('/');
        found = text ? parse_rules(*text, cut == name.npos ? std::string_view{} : path.substr(0, cut + 1))
                     : result<dynamic_rule>{text.error()};
    });
    return found;
}

// A rule of the catalogue with its defaults, or a pack (supervised, rl, boosting, system, sagemaker), by its name. errc::bad_config where
// there is none.
[[nodiscard]] inline result<dynamic_rule> rule_named(std::string_view name) noexcept {
    result<dynamic_rule> found{errc::out_of_memory, "no memory to read the rules"};
    (void)guarded([&] {
        found = detail::json_rule_reader{""}.read({{"rules", nlohmann::json::array({std::string{name}})}});
    });
    return found;
}

}  // namespace spotter::inline SPOTTER_ABI
