// SPDX-License-Identifier: Apache-2.0
// Diff (L6): which tensors there are at which step, in program order.
#pragma once

#include <spotter/core/step.hpp>
#include <spotter/diff/fwd.hpp>

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// Names are numbers here: places in `names`.
class step_index {
public:
    // Of one more tensor at a step, in program order within it.
    void add(step_id step, std::string_view name) {
        std::uint32_t const number = number_of(name);
        auto [at, is_new] = at_.try_emplace(step);
        if (is_new) { steps_.push_back(step); }
        at->second.push_back(number);
    }
    void sort_steps(std::vector<step_id> wanted) { steps_ = std::move(wanted); }
    // Indices first, whatever the mode: all that a dump can say.
    void sort_steps_by_index() {
        std::sort(steps_.begin(), steps_.end(),
                  [](step_id a, step_id b) { return a.index != b.index ? a.index < b.index : a.mode < b.mode; });
    }

    [[nodiscard]] std::vector<step_id> const& steps() const noexcept { return steps_; }
    [[nodiscard]] std::vector<std::string> const& names() const noexcept { return names_; }
    [[nodiscard]] bool has(step_id step) const { return at_.contains(step); }
    [[nodiscard]] std::span<std::uint32_t const> at(step_id step) const {
        auto const found = at_.find(step);
        return found == at_.end() ? std::span<std::uint32_t const>{} : std::span{found->second};
    }
    [[nodiscard]] bool has(step_id step, std::uint32_t name) const {
        auto const all = at(step);
        return std::find(all.begin(), all.end(), name) != all.end();
    }

private:
    [[nodiscard]] std::uint32_t number_of(std::string_view name) {
        auto const found = numbers_.find(name);
        if (found != numbers_.end()) { return found->second; }
        auto const number = static_cast<std::uint32_t>(names_.size());
        names_.emplace_back(name);
        numbers_.emplace(std::string{name}, number);
        return number;
    }

    std::vector<std::string> names_{};
    std::map<std::string, std::uint32_t, std::less<>> numbers_{};
    std::vector<step_id> steps_{};
    std::map<step_id, std::vector<std::uint32_t>> at_{};
};

}  // namespace spotter::inline SPOTTER_ABI
