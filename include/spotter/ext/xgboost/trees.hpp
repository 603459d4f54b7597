// SPDX-License-Identifier: Apache-2.0
// Ext (L6), for xgboost.hpp: trees as columns with one value a node, out of a model that XGBoost wrote as UBJSON.
#pragma once

#include <spotter/ext/xgboost/ubjson_scan.hpp>

#include <limits>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// A tree as it is observed, parents before children, level by level.
struct boosted_tree {
    std::vector<std::uint64_t> id{};  // heap order: the root is 0, the children of i are 2i + 1 (yes) and 2i + 2 (no)
    std::vector<std::int32_t> feature{};  // the one that a node splits by; -1: a leaf
    std::vector<float> value{};           // of a leaf what it predicts, of a split its threshold (0: by categories)
    std::vector<float> gain{};            // what a split gained; 0: a leaf
    std::vector<float> cover{};           // sum of the second derivatives, i.e. of the weights of the rows in it
};

namespace detail {

// A tree as the model has it, by XGBoost's own numbers of nodes, unused nodes included. Refers to the model.
struct model_tree {
    ubjson_value left{}, right{}, feature{}, kind{}, value{}, gain{}, cover{};

    // Columns that nobody needs are passed over.
    void take(std::string_view column, ubjson_value const& it) {
        if (column == "left_children") { left = it; }
        if (column == "right_children") { right = it; }
        if (column == "split_indices") { feature = it; }
        if (column == "split_type") { kind = it; }
        if (column == "split_conditions") { value = it; }
        if (column == "loss_changes") { gain = it; }
        if (column == "sum_hessian") { cover = it; }
    }

    // False where the columns are no tree.
    [[nodiscard]] bool arrange(boosted_tree& into) const {
        std::uint64_t const nodes = left.count;
        for (ubjson_value const* each : {&left, &right, &feature, &value, &gain, &cover}) {
            if (nodes == 0 || each->count != nodes || ubjson_size(each->type) == 0) { return false; }
        }
        bool const has_kinds = kind.count == nodes && ubjson_size(kind.type) > 0;
        into = {};
        std::vector<std::uint64_t> order{0};
        into.id.push_back(0);
        for (std::size_t i = 0; i < order.size(); ++i) {
            std::uint64_t const node = order[i];
            std::int32_t children[2] = {}, by_category = 0;
            ubjson_number(left, node, children[0]);
            ubjson_number(right, node, children[1]);
            bool const leaf = children[0] < 0;
            for (std::uint64_t side = 0; side < 2 && !leaf; ++side) {
                // More nodes than there are: one that is its own ancestor.
                if (children[side] < 0 || static_cast<std::uint64_t>(children[side]) >= nodes ||
                    order.size() == nodes) {
                    return false;
                }
                into.id.push_back(child_of(into.id[i], side + 1));
                order.push_back(static_cast<std::uint64_t>(children[side]));
            }
            into.feature.push_back(-1);
            into.value.push_back(0);
            into.gain.push_back(0);
            into.cover.push_back(0);
            if (!leaf) {
                if (has_kinds) { ubjson_number(kind, node, by_category); }
                ubjson_number(feature, node, into.feature.back());
                ubjson_number(gain, node, into.gain.back());
            }
            if (by_category == 0) { ubjson_number(value, node, into.value.back()); }
            ubjson_number(cover, node, into.cover.back());
        }
        return true;
    }

private:
    // Ids end with level 63; what lies deeper shares the last one.
    [[nodiscard]] static std::uint64_t child_of(std::uint64_t parent, std::uint64_t which) {
        constexpr std::uint64_t last = (std::numeric_limits<std::uint64_t>::max)();
        return parent > (last - which) / 2 ? last : 2 * parent + which;
    }
};

// The trees of the last of `rounds` rounds; false where the model is not understood.
[[nodiscard]] inline bool read_last_trees(std::string_view model, std::size_t rounds, std::vector<boosted_tree>& into) {
    std::vector<model_tree> all;
    bool const whole = ubjson_scan{model}.each([&](std::span<json_level const> levels, ubjson_value const& value) {
        // ..."trees": [{"left_children": [1, 3,
        std::size_t const depth = levels.size();
        if (depth < 3 || levels[depth - 3].key != "trees" || !levels[depth - 2].is_array) { return; }
        std::size_t const tree = levels[depth - 2].index;
        if (tree >= all.size()) { all.resize(tree + 1); }
        all[tree].take(levels[depth - 1].key, value);
    });
    if (!whole || rounds == 0) { return false; }
    std::size_t const count =
        all.size() / rounds;  // each round adds as many as there are classes, or a multiple of that
    into.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
        if (!all[all.size() - count + i].arrange(into[i])) { return false; }
    }
    return true;
}

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
