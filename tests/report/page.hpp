// SPDX-License-Identifier: Apache-2.0
// What tests of pages ask: is it well-formed, does it stand alone, which sections has it.
#pragma once

#include <tests/trial/runs.hpp>

#include <spotter/workbench/page.hpp>

#include <string>
#include <vector>

namespace spotter_test {

inline bool has_text(std::string const& page, std::string_view part) { return page.find(part) != std::string::npos; }

inline std::size_t count_of(std::string const& text, std::string_view part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) { ++count; }
    return count;
}

// The first element that is not closed where it should be, or a quote that is; empty where all is well.
inline std::string misplaced(std::string_view page) {
    std::vector<std::string> open;
    for (std::size_t at = page.find('<'); at != page.npos; at = page.find('<', at + 1)) {
        std::size_t end = at + 1;
        bool quoted = false;
        for (; end < page.size() && (quoted || page[end] != '>'); ++end) { quoted = quoted != (page[end] == '"'); }
        if (end >= page.size()) { return "open to the end: " + std::string{page.substr(at, 80)}; }
        std::string_view const tag = page.substr(at + 1, end - at - 1);
        std::size_t const cut = tag.find_first_of(" />", 1);
        std::string const name{tag.substr(0, cut)};
        at = end;
        bool const whole =
            name == "!DOCTYPE" || name == "meta" || name == "link" || name == "img" || tag.ends_with('/');
        if (tag.starts_with('/')) {
            if (open.empty() || "/" + open.back() != std::string{tag}) { return "closed: " + std::string{tag}; }
            open.pop_back();
        } else if (!whole) {
            open.push_back(name);
        }
        if (name == "style") { at = page.find("</style>", end) - 1; }
    }
    return open.empty() ? "" : "never closed: " + open.back();
}

// Every element is closed, nothing is fetched or run, and no number is one that a browser cannot draw.
inline void check_page(std::string const& page) {
    CHECK(misplaced(page) == "");
    CHECK(page.starts_with("<!DOCTYPE html>"));
    for (std::string_view const part :
         {"<script", "<iframe", "<object", "<svg onload", "<img src=h", "@import", "url("}) {
        INFO(std::string{part});
        CHECK_FALSE(has_text(page, part));
    }
    for (std::string_view const attribute : {" src=\"", " href=\""}) {
        for (std::size_t at = page.find(attribute); at != page.npos; at = page.find(attribute, at + 1)) {
            std::string_view const target = std::string_view{page}.substr(at + attribute.size(), 5);
            CHECK((target.starts_with("data:") || target.starts_with('#')));
        }
    }
    for (std::size_t at = page.find(" d=\""); at != page.npos; at = page.find(" d=\"", at + 1)) {
        std::string_view const path = std::string_view{page}.substr(at + 4, page.find('"', at + 4) - at - 4);
        if (path.find_first_not_of("MLHVZhvlmz0123456789.- ") != path.npos) { FAIL(std::string{path.substr(0, 200)}); }
    }
}

// The ids, in order.
inline std::vector<std::string> sections_of(std::string const& page) {
    std::vector<std::string> found;
    constexpr std::string_view begin = "<section id=\"";
    for (std::size_t at = page.find(begin); at != page.npos; at = page.find(begin, at + 1)) {
        std::size_t const from = at + begin.size();
        found.push_back(page.substr(from, page.find('"', from) - from));
    }
    return found;
}

}  // namespace spotter_test
