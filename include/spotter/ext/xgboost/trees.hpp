// SPDX-License-Identifier: Apache-2.0
// Ext (L6), for xgboost.hpp: trees as columns with one value for each node, from a model that XGBoost wrote as UBJSON.
#pragma once

#include <spotter/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// A tree as it is observed, parents before children, level by level.
struct boosted_tree {
    std::vector<std::uint64_t> id{};  // heap order: the root is 0, the children of i are 2i + 1 (yes) and 2i + 2 (no)
    std::vector<std::int32_t> feature{};  // the feature that a node splits by; -1: a leaf
    std::vector<float> value{};           // of a leaf its prediction, of a split its threshold (0: by categories)
    std::vector<float> gain{};            // the gain of a split; 0: a leaf
    std::vector<float> cover{};           // sum of the second derivatives, i.e. of the weights of the rows in it
};

namespace detail {

// The trees of the last of `rounds` rounds; false where the model has an unknown format.
[[nodiscard]] bool read_last_trees(std::string_view model, std::size_t rounds, std::vector<boosted_tree>& into);

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/ext/xgboost/trees.ipp>
#endif
