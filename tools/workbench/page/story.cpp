// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the bodies of story.hpp.
#include "page/story.hpp"

#include <algorithm>
#include <cmath>

namespace spotter::inline SPOTTER_ABI::html {

mode_story& mode_stories::operator[](std::size_t mode) {
    if (!made_[mode]) { made_[mode] = std::make_unique<mode_story>(); }
    return *made_[mode];
}

mode_story const& mode_stories::operator[](std::size_t mode) const noexcept {
    static mode_story const none{};
    return made_[mode] ? *made_[mode] : none;
}

std::size_t tensor_story::seen_in() const noexcept {
    for (std::size_t mode = 0; mode < mode_count; ++mode) {
        if (modes[mode].observations > 0) { return mode; }
    }
    return 0;
}

std::uint64_t tensor_story::observations() const noexcept {
    std::uint64_t all = 0;
    for (std::size_t mode = 0; mode < mode_count; ++mode) { all += modes[mode].observations; }
    return all;
}

void step_times::add(std::uint64_t at, double took) {
    seconds.add(at, took);
    double const place = took > shortest ? std::log10(took / shortest) * 10 : 0;
    ++counts[static_cast<std::size_t>((std::clamp)(place, 0.0, bins - 1.0))];
    ++count, sum += took;
    longest = (std::max)(longest, took);
}

double step_times::quantile(double share) const noexcept {
    std::uint64_t below = 0;
    for (int i = 0; i < bins; ++i) {
        below += counts[static_cast<std::size_t>(i)];
        if (static_cast<double>(below) >= share * static_cast<double>(count)) {
            return (std::min)(shortest * std::pow(10.0, (i + 0.5) / 10), longest);
        }
    }
    return 0;
}

bool run_story::blames(std::string_view tensor) const noexcept {
    return std::any_of(findings.begin(), findings.end(),
                       [&](evidence const& each) { return each.what.strongest.tensor == tensor; });
}

}  // namespace spotter::inline SPOTTER_ABI::html
