// SPDX-License-Identifier: Apache-2.0
// Workbench, diff: compares one tensor of two sides at one step, or says why it cannot.
#pragma once

#include "diff/compare.hpp"
#include "diff/name_map.hpp"
#include "diff/side.hpp"

#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Only the same number is equal.
[[nodiscard]] bool is_exact(tolerance const& it) noexcept;

[[nodiscard]] bool matches_any(std::vector<std::string> const& globs, std::string_view name);

class pair_comparer {
public:
    pair_comparer(opened_side const& a, opened_side const& b, diff_options const& wanted);

    [[nodiscard]] compared_tensor operator()(std::string const& name_a, std::string const& name_b, step_id step,
                                             opened_side const* reference, std::string const* name_r) const;

private:
    [[nodiscard]] verdict verdict_of(compared_tensor const& it) const noexcept;
    void compare_values(compared_tensor& it, tensor_ref const& a, tensor_ref const& b) const;
    // A matrix is hardly the transpose of another by chance: requires a distance of at most a thousandth of its length,
    // and far less than without the swap.
    [[nodiscard]] bool is_same_swapped(compared_tensor const& it, tensor_ref const& a, tensor_ref const& b) const;
    static void compare_texts(compared_tensor& it, tensor_ref const& a, tensor_ref const& b);
    void compare_with(opened_side const& reference, std::string const& name, step_id step, tensor_ref const& a,
                      tensor_ref const& b, compared_tensor& it) const;

    // Compares the hashes of the values' bits, if both sides have them, and otherwise every common statistic. Counts
    // can show a difference, but not equality; same statistics leave it unknown. Different hashes do not show the size
    // of a difference, so they decide only without a tolerance.
    void compare_statistics(compared_tensor& it, recorded_value const& a, recorded_value const& b, step_id step) const;
    // Only for equal type, shape and memory order: a hash is of the bits in memory.
    void compare_hashes(compared_tensor& it, recorded_value const& a, recorded_value const& b, step_id step) const;
    [[nodiscard]] static value_hash hash_of(opened_side const& from, std::string const& name,
                                            recorded_value const& value, step_id step);
    [[nodiscard]] static measurement statistic_of(opened_side const& from, std::string const& name,
                                                  recorded_value const& value, step_id step, statistic which);

    opened_side const& a_;
    opened_side const& b_;
    diff_options const& wanted_;
    tolerance allowed_{};
};

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
