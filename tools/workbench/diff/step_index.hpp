// SPDX-License-Identifier: Apache-2.0
// Workbench, diff: which tensors there are at which step, in program order.
#pragma once

#include <spotter/core/step.hpp>

#include <map>
#include <span>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// Names are numbers here: places in `names`. Most steps of a training have the same tensors, so each list of them is
// kept once: a step takes 28 bytes, however many it has. One thread.
class step_index {
public:
    // That of a name, which may be new.
    [[nodiscard]] std::uint32_t number_of(std::string_view name);
    // The tensors of a step, in program order. Those that it has already move behind the others.
    void put(step_id step, std::span<std::uint32_t const> names);
    // The same of those that it has not; the others stay.
    void put_missing(step_id step, std::span<std::uint32_t const> names);
    // `wanted` has all of them, and no other.
    void sort_steps(std::vector<step_id> wanted) { steps_ = std::move(wanted); }
    // Indices first, whatever the mode: all that a dump can say.
    void sort_steps_by_index();

    // In the order in which they were put, or sorted.
    [[nodiscard]] std::vector<step_id> const& steps() const noexcept { return steps_; }
    // In the order in which they were met.
    [[nodiscard]] std::vector<std::string> const& names() const noexcept { return names_; }
    [[nodiscard]] bool has(step_id step) const { return find(step) != nullptr; }  // it has a tensor
    [[nodiscard]] std::span<std::uint32_t const>
    at(step_id step) const;  // names, in program order; none of a step that is not there
    [[nodiscard]] bool has(step_id step, std::uint32_t name) const;  // that tensor, by its number

private:
    using list = std::vector<std::uint32_t>;
    struct kept_list {
        list const* names = nullptr;  // the key in numbers_of_
        list sorted{};
    };
    struct steps_of_mode {
        std::vector<std::uint64_t> index{};  // ascending
        std::vector<std::uint32_t> names{};  // which of lists_ each has
        mutable std::size_t last = 0;        // that was found: steps are mostly asked for in order
    };

    // Of all lists that number; nothing where the step is not there.
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
