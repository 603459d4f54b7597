// SPDX-License-Identifier: Apache-2.0
// The bodies of json.hpp.
#pragma once

#include <spotter/core/guard.hpp>
#include <spotter/ext/json.hpp>
#include <spotter/ext/json/smdebug_reader.hpp>
#include <spotter/ext/json/text_file.hpp>

#include <cstdlib>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY result<dynamic_plan> parse_plan(std::string_view text) noexcept {
    result<dynamic_plan> found{errc::out_of_memory, "no memory to read the settings"};
    (void)guarded([&] {
        auto const parsed = detail::parse_json(text);
        if (!parsed) {
            found = parsed.error();
            return;
        }
        nlohmann::json const& root = *parsed;
        if (!root.is_object()) {
            found = error{errc::bad_config, "the settings must be one object: {\"collections\": [...]}"};
        } else if (detail::json_smdebug_reader::is_one(root)) {
            found = detail::json_smdebug_reader{}.read(root);
        } else {
            found = detail::json_plan_reader{}.read(root);
        }
    });
    return found;
}

SPOTTER_BODY result<dynamic_plan> load_plan(char const* path) noexcept {
    auto const text = detail::read_text(path, "settings");
    return text ? parse_plan(*text) : result<dynamic_plan>{text.error()};
}

SPOTTER_BODY result<dynamic_plan> load_plan(std::string const& path) noexcept { return load_plan(path.c_str()); }

SPOTTER_BODY result<dynamic_plan> load_plan() noexcept {
    char const* const path = std::getenv("SPOTTER_CONFIG");
    if (path == nullptr || *path == '\0') {
        return {errc::bad_config, "SPOTTER_CONFIG is not set: it names the file with the settings"};
    }
    return load_plan(path);
}

SPOTTER_BODY std::string to_json(dynamic_plan const& plan) noexcept {
    std::string all;
    if (!guarded([&] { write_json(plan, [&](std::string_view piece) { all += piece; }); })) { all.clear(); }
    return all;
}

}  // namespace spotter::inline SPOTTER_ABI
