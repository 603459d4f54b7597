// SPDX-License-Identifier: Apache-2.0
// Workbench, diff: compares two trainings: where they diverge, and how each tensor differs over all steps.
#pragma once

#include "diff/pair.hpp"
#include "diff/settings.hpp"
#include "read_at_once.hpp"

#include <functional>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

[[nodiscard]] constexpr bool is_difference(verdict which) noexcept { return which >= verdict::shapes; }

class differ {
public:
    differ(opened_side const& a, opened_side const& b, diff_options const& wanted, opened_side const* reference)
        : a_{a}, b_{b}, reference_{reference}, wanted_{wanted}, compare_{a, b, wanted} {}

    [[nodiscard]] error match();

    [[nodiscard]] result<diff_report> run(std::function<void(std::uint64_t, std::uint64_t)> const& progress);

private:
    [[nodiscard]] static std::size_t damage_of(opened_side const& side);
    // A time or a sample of the machine, which no two runs have alike, and which was not asked for.
    [[nodiscard]] bool is_of_machine(opened_side const& side, std::string const& name) const;
    [[nodiscard]] bool is_wanted(std::string_view name) const;
    [[nodiscard]] bool is_wanted(step_id step) const noexcept;
    void note_lonely(opened_side const& lacks, step_id step, std::vector<step_id>& into);
    // By the name in A, or else by that in B.
    void match_reference(std::vector<std::string> const& in_a, std::vector<std::string> const& in_b);

    // In the order of A; in that of B if A is a folder of .npy files, which has no order.
    [[nodiscard]] std::vector<std::uint32_t> ordered(step_id step) const;
    void count(compared_tensor const& it, step_id step);
    void take(step_id step);
    [[nodiscard]] compared_tensor compare_at(step_id step, std::uint32_t name) const;
    [[nodiscard]] tensor_history& history_of(std::uint32_t name);

    opened_side const& a_;
    opened_side const& b_;
    opened_side const* reference_;
    diff_options const& wanted_;
    pair_comparer compare_;
    std::vector<std::optional<std::uint32_t>> partner_{};       // of each name of A, in B
    std::vector<std::optional<std::uint32_t>> back_{};          // of each name of B, in A
    std::vector<std::optional<std::uint32_t>> of_reference_{};  // of each name of A
    std::map<std::uint32_t, std::size_t> place_{};
    diff_report report_{};
};

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
