// SPDX-License-Identifier: Apache-2.0
// Workbench, diff: one tensor of two sides at one step: what came of comparing it, and why where nothing could.
#pragma once

#include "diff/compare.hpp"
#include "diff/name_map.hpp"
#include "diff/side.hpp"

#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

[[nodiscard]] bool matches_any(std::vector<std::string> const& globs, std::string_view name);

class pair_comparer {
public:
    pair_comparer(opened_side const& a, opened_side const& b, diff_options const& wanted);

    [[nodiscard]] compared_tensor operator()(std::string const& name_a, std::string const& name_b, step_id step,
                                             opened_side const* reference, std::string const* name_r) const;

private:
    [[nodiscard]] verdict verdict_of(compared_tensor const& it) const noexcept;
    void compare_values(compared_tensor& it, tensor_ref const& a, tensor_ref const& b) const;
    // A matrix is hardly the other's transpose by chance: a thousandth of its length off at most, and far nearer than
    // as it is.
    [[nodiscard]] bool is_same_swapped(compared_tensor const& it, tensor_ref const& a, tensor_ref const& b) const;
    static void compare_texts(compared_tensor& it, tensor_ref const& a, tensor_ref const& b);
    void compare_with(opened_side const& reference, std::string const& name, step_id step, tensor_ref const& a,
                      tensor_ref const& b, compared_tensor& it) const;

    // The hash of the values' bits, where both sides have it, and else every statistic that both have. Counts say where
    // two differ, but never that they are the same; nor does a hash that differs say by how much, so that it decides
    // only without a tolerance.
    void compare_statistics(compared_tensor& it, recorded_value const& a, recorded_value const& b, step_id step) const;
    // Of the same type, shape and order of memory only: a hash is of the bits as they lie there.
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
