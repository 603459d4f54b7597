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
#include <spotter/core/bits.hpp>
#include <spotter/ext/xgboost/document.hpp>

#include <limits>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// A tree as in the model, with XGBoost's node numbers, unused nodes included.
struct model_tree {
    std::vector<double> left{}, right{}, feature{}, kind{}, value{}, gain{}, cover{};

    // Null for columns that are not needed.
    [[nodiscard]] std::vector<double>* column(std::string_view name) noexcept {
        if (name == "left_children") { return &left; }
        if (name == "right_children") { return &right; }
        if (name == "split_indices") { return &feature; }
        if (name == "split_type") { return &kind; }
        if (name == "split_conditions") { return &value; }
        if (name == "loss_changes") { return &gain; }
        if (name == "sum_hessian") { return &cover; }
        return nullptr;
    }

    // False where the columns are not a tree.
    [[nodiscard]] bool arrange(boosted_tree& into) const {
        std::size_t const nodes = left.size();
        for (std::vector<double> const* each : {&left, &right, &feature, &value, &gain, &cover}) {
            if (nodes == 0 || each->size() != nodes) { return false; }
        }
        into = {};
        std::vector<std::size_t> order{0};
        into.id.push_back(0);
        for (std::size_t i = 0; i < order.size(); ++i) {
            std::size_t const node = order[i];
            std::int32_t const children[2] = {whole(left[node]), whole(right[node])};
            bool const leaf = children[0] < 0;
            for (std::uint64_t side = 0; side < 2 && !leaf; ++side) {
                // More nodes than exist: one would be its own ancestor.
                if (children[side] < 0 || static_cast<std::size_t>(children[side]) >= nodes || order.size() == nodes) {
                    return false;
                }
                into.id.push_back(child_of(into.id[i], side + 1));
                order.push_back(static_cast<std::size_t>(children[side]));
            }
            bool const by_category = !leaf && kind.size() == nodes && whole(kind[node]) != 0;
            into.feature.push_back(leaf ? -1 : whole(feature[node]));
            into.value.push_back(by_category ? 0 : static_cast<float>(value[node]));
            into.gain.push_back(leaf ? 0 : static_cast<float>(gain[node]));
            into.cover.push_back(static_cast<float>(cover[node]));
        }
        return true;
    }

private:
    // 0 where it is not a value of a column in XGBoost.
    [[nodiscard]] static std::int32_t whole(double const& value) noexcept {
        constexpr double end = 0x1p31;
        return is_finite(value) && value >= -end && value < end ? static_cast<std::int32_t>(value) : 0;
    }
    // Ids end at level 63; deeper nodes share the last one.
    [[nodiscard]] static std::uint64_t child_of(std::uint64_t parent, std::uint64_t which) {
        constexpr std::uint64_t last = (std::numeric_limits<std::uint64_t>::max)();
        return parent > (last - which) / 2 ? last : 2 * parent + which;
    }
};

// ..."trees": [{"left_children": [1, 3,
struct tree_reader : document_reader<tree_reader> {
    std::size_t rounds, first = 0;  // earlier trees are skipped
    std::vector<model_tree> trees{};
    std::vector<double>* column = nullptr;  // the one being read

    explicit tree_reader(std::size_t boosted) : rounds{boosted} {}

    using document_reader::take;
    void take(double const& value) {
        if (column != nullptr) { column->push_back(value); }
    }
    void entered(std::size_t count) {
        std::size_t const depth = levels().size();
        column = nullptr;
        if (depth > 1 && levels()[depth - 2].key == "trees" && count != static_cast<std::size_t>(-1)) {
            first = count - count / rounds;
        }
        if (depth < 4 || levels()[depth - 4].key != "trees" || !levels()[depth - 3].is_array) { return; }
        std::size_t const tree = levels()[depth - 3].values - 1;
        if (tree < first) { return; }
        if (tree - first >= trees.size()) { trees.resize(tree - first + 1); }
        column = trees[tree - first].column(levels()[depth - 2].key);
        if (column != nullptr) { column->clear(); }
    }
    void left() { column = nullptr; }
};

SPOTTER_BODY bool read_last_trees(std::string_view model, std::size_t rounds, std::vector<boosted_tree>& into) {
    if (rounds == 0) { return false; }
    tree_reader reader{rounds};
    if (!reader.read(model, nlohmann::json::input_format_t::ubjson)) { return false; }
    // Each round adds as many trees as there are classes, or a multiple.
    std::size_t const count = (reader.first + reader.trees.size()) / rounds;
    if (count > reader.trees.size()) { return false; }
    into.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
        if (!reader.trees[reader.trees.size() - count + i].arrange(into[i])) { return false; }
    }
    return true;
}

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
#endif
