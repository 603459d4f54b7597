// SPDX-License-Identifier: Apache-2.0
// The bodies of rules.hpp.
#pragma once

#include <spotter/core/guard.hpp>
#include <spotter/ext/json/rules.hpp>
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
