// SPDX-License-Identifier: Apache-2.0
// Command line: suggestions for unknown words, and the existing steps near a missing one.
#pragma once

#include "output.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spotter_tool {

// The edit distance: letters that are wrong, missing, superfluous or swapped with the next one.
[[nodiscard]] inline std::size_t misspelling(std::string_view a, std::string_view b) {
    std::size_t const width = b.size() + 1;
    std::vector<std::size_t> before(width), last(width), row(width);
    std::iota(last.begin(), last.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t k = 1; k < width; ++k) {
            bool const same = a[i - 1] == b[k - 1];
            row[k] = (std::min)({last[k] + 1, row[k - 1] + 1, last[k - 1] + (same ? 0 : 1)});
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1]) {
                row[k] = (std::min)(row[k], before[k - 2] + 1);
            }
        }
        std::swap(before, last);
        std::swap(last, row);
    }
    return last[b.size()];
}

// A word that differs in at most a third of its letters, or that begins with the written one.
[[nodiscard]] inline std::optional<std::string> nearest(std::string_view written,
                                                        std::vector<std::string> const& words) {
    std::optional<std::string> best;
    std::size_t least = 0;
    for (std::string const& each : words) {
        bool const begun = written.size() > 2 && std::string_view{each}.starts_with(written);
        std::size_t const wrong = begun ? 1 : misspelling(written, each);
        bool const near = wrong <= (std::max)(std::size_t{1}, (std::max)(written.size(), each.size()) / 3);
        if (near && (!best || wrong < least)) {
            best = each;
            least = wrong;
        }
    }
    return best;
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
    std::string text = fmt::format("it has {} at {} step{}: ", what, steps.size(), steps.size() == 1 ? "" : "s");
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
