// SPDX-License-Identifier: Apache-2.0
// Workbench, page: shared by the sections of a page.
#pragma once

#include "page/chart.hpp"
#include "page/story.hpp"
#include "page/text.hpp"

#include <spotter/report/describe.hpp>

namespace spotter::inline SPOTTER_ABI::html {

// With more runs than this the page treats them as a whole: each run has its row, its curves and its findings, but no
// pictures.
inline constexpr std::size_t most_side_by_side = 6;

[[nodiscard]] inline std::string step_text(step_id step) { return describe(step); }  // "train(8)"
// Escaped, in a code font.
[[nodiscard]] inline std::string code(std::string_view text) { return fmt::format("<code>{}</code>", escape(text)); }
[[nodiscard]] std::string
grid_of(std::string const& figures);  // figures side by side, as many as fit; empty without figures

// The steps of the findings, as marks for the axes: each step once, at most a dozen.
[[nodiscard]] std::vector<mark> marks_of(run_story const& story);

// All of them, or `most`: those named by a finding first, then others, evenly spaced.
template <class Blamed>
[[nodiscard]] std::vector<tensor_story const*> choose(std::vector<tensor_story const*> const& all, std::size_t most,
                                                      Blamed const& blamed) {
    if (all.size() <= most) { return all; }
    std::vector<bool> taken(all.size());
    std::size_t count = 0;
    for (std::size_t i = 0; i < all.size() && count < most / 2; ++i) {
        if (blamed(*all[i])) { taken[i] = true, ++count; }
    }
    std::size_t const room = most - count;
    for (std::size_t i = 0; i < room; ++i) { taken[i * (all.size() - 1) / (room > 1 ? room - 1 : 1)] = true; }
    std::vector<tensor_story const*> chosen;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (taken[i]) { chosen.push_back(all[i]); }
    }
    return chosen;
}

}  // namespace spotter::inline SPOTTER_ABI::html
