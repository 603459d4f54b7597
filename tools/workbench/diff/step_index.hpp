// SPDX-License-Identifier: Apache-2.0
// Workbench, diff: the tensors at each step, in program order.
#pragma once

#include <spotter/core/step.hpp>

#include <map>
#include <span>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// Names are indices in `names`. Most steps of a training have the same tensors, so each list is stored once: a step
// takes 28 bytes, whatever its number of tensors. Use it in one thread.
class step_index {
public:
    // The index of a name, which is added if it is new.
    [[nodiscard]] std::uint32_t number_of(std::string_view name);
    // Sets the tensors of a step, in program order. Tensors that the step already has are moved after the others.
    void put(step_id step, std::span<std::uint32_t const> names);
    // Adds only the tensors that the step lacks; the others stay.
    void put_missing(step_id step, std::span<std::uint32_t const> names);
    // Sets the order of steps; `wanted` must have exactly the existing ones.
    void sort_steps(std::vector<step_id> wanted) { steps_ = std::move(wanted); }
    // Sorts by index, whatever the mode: a dump has no other order.
    void sort_steps_by_index();

    // In the order of insertion, or as sorted.
    [[nodiscard]] std::vector<step_id> const& steps() const noexcept { return steps_; }
    // In the order of their first use.
    [[nodiscard]] std::vector<std::string> const& names() const noexcept { return names_; }
    [[nodiscard]] bool has(step_id step) const { return find(step) != nullptr; }  // it has a tensor
    [[nodiscard]] std::span<std::uint32_t const>
    at(step_id step) const;  // names, in program order; empty for an unknown step
    [[nodiscard]] bool has(step_id step, std::uint32_t name) const;  // that tensor, by its index

private:
    using list = std::vector<std::uint32_t>;
    struct kept_list {
        list const* names = nullptr;  // the key in numbers_of_
        list sorted{};
    };
    struct steps_of_mode {
        std::vector<std::uint64_t> index{};  // ascending
        std::vector<std::uint32_t> names{};  // index of each one's list in lists_
        mutable std::size_t last = 0;        // the last one found: steps are mostly requested in order
    };

    // The index of the step's list; null where the step does not exist.
    [[nodiscard]] std::uint32_t const* find(step_id step) const;
    void put_list(step_id step, list names);
    [[nodiscard]] std::uint32_t number_of(list names);

    std::vector<std::string> names_{};
    std::map<std::string, std::uint32_t, std::less<>> numbers_{};
    std::vector<step_id> steps_{};
    std::map<list, std::uint32_t> numbers_of_{};
    std::vector<kept_list> lists_{};
    steps_of_mode modes_[mode_count]{};
};

}  // namespace spotter::inline SPOTTER_ABI
