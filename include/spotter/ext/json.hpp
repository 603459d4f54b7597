// SPDX-License-Identifier: Apache-2.0
// Ext (L6): plans from settings files and back, with nlohmann_json 3.10 or later. Both forms are described in
// docs/settings.md.
#pragma once

#include <spotter/ext/json/plan_reader.hpp>
#include <spotter/plan/write_json.hpp>

#include <nlohmann/json.hpp>

#include <string>

namespace spotter::inline SPOTTER_ABI {

// A plan from a text in either form, or the first error in it: errc::bad_config or errc::bad_pattern; then nothing is
// applied. Comments (// and /* */) are allowed.
[[nodiscard]] result<dynamic_plan> parse_plan(std::string_view text) noexcept;

// The same from a file, whose path stands first in an error.
[[nodiscard]] result<dynamic_plan> load_plan(char const* path) noexcept;
[[nodiscard]] result<dynamic_plan> load_plan(std::string const& path) noexcept;

// From the file that the environment variable SPOTTER_CONFIG names.
[[nodiscard]] result<dynamic_plan> load_plan() noexcept;
// The same, or `otherwise` where the variable is not set. A malformed file is still an error.
template <class... Collections>
[[nodiscard]] result<dynamic_plan> load_plan_or(plan<Collections...> const& otherwise) noexcept {
    char const* const path = std::getenv("SPOTTER_CONFIG");
    return path == nullptr || *path == '\0' ? result<dynamic_plan>{dynamic_plan{otherwise}} : load_plan(path);
}

// A plan in spotter's own form, one collection a line; parse_plan returns an equal plan. Empty where memory is
// exhausted.
[[nodiscard]] std::string to_json(dynamic_plan const& plan) noexcept;
template <class... Collections>
[[nodiscard]] std::string to_json(plan<Collections...> const& plan) noexcept {
    return to_json(dynamic_plan{plan});
}

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/guard.hpp>
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
    if (!text) { return text.error(); }
    result<dynamic_plan> found = parse_plan(*text);
    return found ? std::move(found) : result<dynamic_plan>{detail::in_file(path, found.error())};
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

#endif
