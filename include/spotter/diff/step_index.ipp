// SPDX-License-Identifier: Apache-2.0
// The bodies of step_index.hpp.
#pragma once

#include <spotter/diff/step_index.hpp>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY void step_index::add(step_id step, std::string_view name) {
    std::uint32_t const number = number_of(name);
    auto [at, is_new] = at_.try_emplace(step);
    if (is_new) { steps_.push_back(step); }
    at->second.push_back(number);
}

SPOTTER_BODY void step_index::sort_steps_by_index() {
    std::sort(steps_.begin(), steps_.end(),
              [](step_id a, step_id b) { return a.index != b.index ? a.index < b.index : a.mode < b.mode; });
}

SPOTTER_BODY std::span<std::uint32_t const> step_index::at(step_id step) const {
    auto const found = at_.find(step);
    return found == at_.end() ? std::span<std::uint32_t const>{} : std::span{found->second};
}

SPOTTER_BODY bool step_index::has(step_id step, std::uint32_t name) const {
    auto const all = at(step);
    return std::find(all.begin(), all.end(), name) != all.end();
}

SPOTTER_BODY std::uint32_t step_index::number_of(std::string_view name) {
    auto const found = numbers_.find(name);
    if (found != numbers_.end()) { return found->second; }
    auto const number = static_cast<std::uint32_t>(names_.size());
    names_.emplace_back(name);
    numbers_.emplace(std::string{name}, number);
    return number;
}

}  // namespace spotter::inline SPOTTER_ABI
