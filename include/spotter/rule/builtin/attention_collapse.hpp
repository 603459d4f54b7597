// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): attention that selects single keys. docs/rules.md#attention_collapse
#pragma once

#include <spotter/rule/builtin/attention_heads.hpp>
#include <spotter/rule/builtin/judging.hpp>

namespace spotter::inline SPOTTER_ABI {

// Warning when the normalised entropy of a layer's attention is below `min_entropy` in `patience` observations in a
// row. It is the entropy divided by the logarithm of the number of keys, as the mean over heads. At low entropy softmax
// passes almost no gradient, and training soon diverges (Zhai et al. 2023, "Stabilizing Transformer Training by
// Preventing Attention Entropy Collapse", ICML). Weights are [head, query, key] or [batch, head, query, key].
struct attention_collapse {
    using kind = rule_kind;
    static constexpr std::string_view name = "attention_collapse";
    static constexpr std::string_view remedy =
        "Lower the learning rate or warm it up; normalise queries and keys, and check the scale of the scores.";

    selector select = "{attention/*,*/attention}";
    double min_entropy = 0.1;    // fraction of the entropy of uniform weights
    std::uint64_t patience = 5;  // observations

    using scratch = attention_heads::scratch;
    static constexpr stats_mask watched = stats_mask::feature;
    [[nodiscard]] constexpr std::uint64_t feature_key() const noexcept { return key_of("attention heads", 1); }
    [[nodiscard]] constexpr bool prepare(scratch& own, tensor_info const& tensor) const noexcept {
        return attention_heads::make_room(own, attention_heads::sizes_of(tensor.shape, order::row_major));
    }
    constexpr void extract(scratch& own, observation const&, tensor_ref const& values, feature& out) const noexcept {
        attention_heads::extract(own, values, out);
    }
    [[nodiscard]] SPOTTER_STRICT constexpr judged_value judge(observation const&,
                                                              std::span<double const> made) const noexcept {
        SPOTTER_STRICT_BODY
        std::size_t const heads = attention_heads::count_in(made);
        if (heads == 0) { return {}; }
        double total = 0;
        for (std::size_t h = 0; h < heads; ++h) { total += attention_heads::of(made, h).entropy; }
        double const entropy = total / static_cast<double>(heads);
        return {entropy, entropy < min_entropy};
    }
    [[nodiscard]] constexpr finding tell(violation const& who) const noexcept {
        return who.as_finding("attention looks up single keys", "entropy over that of even weights", relation::less,
                              min_entropy);
    }
    [[nodiscard]] constexpr std::string_view silence() const noexcept {
        return "no weights [head, query, key] or [batch, head, query, key] of four keys or more that add up to 1";
    }
};

}  // namespace spotter::inline SPOTTER_ABI
