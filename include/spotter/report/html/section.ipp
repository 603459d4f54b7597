// SPDX-License-Identifier: Apache-2.0
// The bodies of section.hpp.
#pragma once

#include <spotter/report/html/section.hpp>

namespace spotter::inline SPOTTER_ABI::html {

SPOTTER_BODY std::string grid_of(std::string const& figures) {
    return figures.empty() ? figures : fmt::format("<div class=\"grid\">\n{}</div>\n", figures);
}

SPOTTER_BODY std::vector<mark> marks_of(run_story const& story) {
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
