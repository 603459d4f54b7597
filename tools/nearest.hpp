// SPDX-License-Identifier: Apache-2.0
// Command line: suggestions for unknown words, and the existing steps near a missing one.
#pragma once

#include "output.hpp"

#include <spotter/core/nearest_word.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spotter_tool {

// A word that differs in at most a third of its letters, or that begins with the written one.
[[nodiscard]] inline std::optional<std::string> nearest(std::string_view written,
                                                        std::vector<std::string> const& words) {
    spotter::detail::nearest_word found{written};
    for (std::string const& each : words) { found.among(each); }
    return found.meant().empty() ? std::nullopt : std::optional<std::string>{found.meant()};
}

// `: did you mean "loss"?`, for names of a run; empty where none is near.
[[nodiscard]] inline std::string name_hint(std::string_view written, std::vector<std::string> const& names) {
    auto const meant = nearest(written, names);
    return meant ? fmt::format("did you mean \"{}\"?", *meant) : std::string{};
}

// "it has values at 5 steps: train(0), train(2), train(4), ..., train(8), the nearest at train(4)"; empty where there
// are none.
[[nodiscard]] inline std::string steps_hint(std::string_view what, std::vector<spotter::step_id> const& steps,
                                            spotter::step_id wanted) {
    constexpr std::size_t head = 3, most = 6;
    if (steps.empty()) { return {}; }
    std::string text = fmt::format("it has {} at {}: ", what, plural(steps.size(), "step"));
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (steps.size() > most && i == head) {
            text += ", ...";
            i = steps.size() - 1;
        }
        text += (i == 0 ? "" : ", ") + step_text(steps[i]);
    }
    auto const distance = [&](spotter::step_id each) {
        return each.index > wanted.index ? each.index - wanted.index : wanted.index - each.index;
    };
    spotter::step_id const* near = nullptr;
    for (spotter::step_id const& each : steps) {
        if (each.mode == wanted.mode && (near == nullptr || distance(each) < distance(*near))) { near = &each; }
    }
    return text + (near == nullptr || steps.size() == 1 ? "" : ", the nearest at " + step_text(*near));
}

}  // namespace spotter_tool
