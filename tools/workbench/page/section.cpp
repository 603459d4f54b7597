// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the bodies of section.hpp.
#include "page/section.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI::html {

std::string paragraph(std::string_view text) { return fmt::format("<p>{}</p>\n", escape(text)); }

std::string grid_of(std::string const& figures) {
    return figures.empty() ? figures : fmt::format("<div class=\"grid\">\n{}</div>\n", figures);
}

std::vector<mark> marks_of(run_story const& story) {
    constexpr std::size_t most = 12;
    std::vector<mark> marks;
    for (evidence const& each : story.findings) {
        bool const known = std::any_of(marks.begin(), marks.end(), [&](mark const& it) { return it.step == each.at; });
        if (known || marks.size() == most) { continue; }
        finding const& it = each.what.strongest;
        marks.push_back(
            {each.at, it.severity, fmt::format("{}: {} at {}", name_of(it.severity), it.rule, step_text(it.step))});
    }
    return marks;
}

}  // namespace spotter::inline SPOTTER_ABI::html
