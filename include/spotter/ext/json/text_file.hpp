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

// The error of a file's content, with its path first. Of a long path the end.
[[nodiscard]] error in_file(std::string_view path, error const& why) noexcept;

// Allows comments; refuses duplicate keys and deep nesting. May throw where memory is exhausted.
[[nodiscard]] result<nlohmann::json> parse_json(std::string_view text);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/core/guard.hpp>
#include <spotter/ext/json/inspector.hpp>

#include <cstdio>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY result<std::string> read_text(char const* path, std::string_view what) noexcept {
    error why{errc::io_error, "the file of the "};
    why.what << what << " \"" << path << "\" cannot be read";
    std::FILE* const file = std::fopen(path, "rb");
    if (file == nullptr) { return why; }
    std::string text;
    char piece[4096];
    bool fine = true;
    for (std::size_t size = 1; fine && size > 0;) {
        size = std::fread(piece, 1, sizeof piece, file);
        fine = guarded([&] { text.append(piece, size); }) && text.size() < (64U << 20);
    }
    fine = fine && std::ferror(file) == 0;
    std::fclose(file);
    return fine ? result<std::string>{std::move(text)} : result<std::string>{why};
}

SPOTTER_BODY error in_file(std::string_view path, error const& why) noexcept {
    constexpr std::size_t most = 60;  // of the bytes that an error has
    error named{why.code, path.size() > most ? "..." : ""};
    named.what << path.substr(path.size() > most ? path.size() - most : 0) << ": " << why.what.view();
    return named;
}

SPOTTER_BODY result<nlohmann::json> parse_json(std::string_view text) {
    json_inspector inspector{text};
    if (!inspector.look()) { return inspector.why(); }
    return nlohmann::json::parse(text.begin(), text.end(), nullptr, false, true);
}

}  // namespace spotter::inline SPOTTER_ABI::detail

#endif
