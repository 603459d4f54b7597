// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): boosted trees that grow too deep. docs/rules.md#tree_depth
#pragma once

#include <spotter/rule/builtin/judging.hpp>

#include <bit>

namespace spotter::inline SPOTTER_ABI {

namespace select {

// Tensors of the tree role. If a tree consists of several (`trees/0/id`, `trees/0/gain`), the one with the node ids.
[[nodiscard]] constexpr bool tree_ids(tensor_info const& tensor) noexcept {
    if (tensor.role != role::tree) { return false; }
    std::string_view rest = tensor.name;
    if (!rest.starts_with("tree/") && !rest.starts_with("trees/")) { return true; }
    rest.remove_prefix(rest.find('/') + 1);
    return rest.find('/') == rest.npos || rest.ends_with("/id");
}

}  // namespace select

// A tree is described by the ids of its nodes in heap order: the root is 0, the children of i are 2i + 1 and 2i + 2.
// Its depth is floor(log2(largest id + 1)); warning where that is above `depth`. Ids in order of creation do not fit:
// observe depths as metrics then, and use `any("metric/depth", maximum > 4)`. Train steps only.
struct tree_depth {
    using kind = rule_kind;
    static constexpr std::string_view name = "tree_depth";
    static constexpr std::string_view remedy =
        "Lower the depth limit; check dominant features for leakage; drop features that carry nothing.";
    static constexpr mode judged_in = mode::train;

    selector select = &select::tree_ids;
    std::uint64_t depth = 4;  // AWS TreeDepth

    [[nodiscard]] static constexpr tree_depth sagemaker_defaults() noexcept { return {}; }

    static constexpr stats_mask watched = stats_mask::range;
    [[nodiscard]] constexpr judged_value judge(observation const& it) const noexcept {
        measurement const found = depth_of(it.stats);
        return {found, found.value > static_cast<double>(depth)};
    }
    [[nodiscard]] constexpr finding tell(violation const& who) const noexcept {
        return who.as_finding("tree is too deep", "depth", relation::greater, static_cast<double>(depth));
    }

    // floor(log2 x) is the exponent of x. A negative id is no heap id.
    [[nodiscard]] static constexpr measurement depth_of(summary const& ids) noexcept {
        measurement const last = maximum(ids);
        if (!last.known || last.value < 0) { return {}; }
        auto const bits = std::bit_cast<std::uint64_t>(last.value + 1);
        return {static_cast<double>(bits >> 52U) - 1023, true};
    }
};

}  // namespace spotter::inline SPOTTER_ABI
