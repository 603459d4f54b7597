// SPDX-License-Identifier: Apache-2.0
// Diff (L6): which tensors there are at which step, in program order.
#pragma once

#include <spotter/core/step.hpp>

#include <map>
#include <span>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// Names are numbers here: places in `names`.
class step_index {
public:
    // Of one more tensor at a step, in program order within it.
    void add(step_id step, std::string_view name);
    void sort_steps(std::vector<step_id> wanted) { steps_ = std::move(wanted); }  // `wanted` has all of them, and no other
    // Indices first, whatever the mode: all that a dump can say.
    void sort_steps_by_index();

    [[nodiscard]] std::vector<step_id> const& steps() const noexcept { return steps_; }  // in the order in which they were met, or sorted
    [[nodiscard]] std::vector<std::string> const& names() const noexcept { return names_; }  // in the order in which they were met
    [[nodiscard]] bool has(step_id step) const { return at_.contains(step); }  // it has a tensor
    [[nodiscard]] std::span<std::uint32_t const> at(step_id step) const;  // names, in program order; none of a step that is not there
    [[nodiscard]] bool has(step_id step, std::uint32_t name) const;

private:
    [[nodiscard]] std::uint32_t number_of(std::string_view name);

    std::vector<std::string> names_{};
    std::map<std::string, std::uint32_t, std::less<>> numbers_{};
    std::vector<step_id> steps_{};
    std::map<step_id, std::vector<std::uint32_t>> at_{};
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/diff/step_index.ipp>
#endif
