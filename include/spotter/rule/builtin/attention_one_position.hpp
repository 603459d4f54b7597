// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): heads that attend to the same key for every query. docs/rules.md#attention_one_position
#pragma once

#include <spotter/rule/builtin/attention_heads.hpp>
#include <spotter/rule/builtin/judging.hpp>

namespace spotter::inline SPOTTER_ABI {

// Note when a head gives at least `share` of its weight to the same key for all queries, in `patience` observations in
// a row. Such a head does not depend on the query. Trained transformers have some ("attention sinks": Xiao et al. 2024,
// "Efficient Streaming Language Models with Attention Sinks", ICLR). Weights are [head, query, key] or [batch, head,
// query, key].
struct attention_one_position {
    using kind = rule_kind;
    static constexpr std::string_view name = "attention_one_position";
    static constexpr std::string_view remedy =
        "Fewer heads may do; if most are so, check the mask, the positions and the learning rate.";

    selector select = "{attention/*,*/attention}";
    double share = 0.9;           // of a head's weight
    std::uint64_t patience = 10;  // observations

    using scratch = attention_heads::scratch;
    struct extreme_head : judged_value {  // the most extreme head, its key, and the number of such heads among all
        std::size_t head = 0, position = 0, count = 0, heads = 0;  // indices from 0; count and heads are numbers of
                                                                   // heads
    };
    static constexpr stats_mask watched = stats_mask::feature;
    [[nodiscard]] constexpr std::uint64_t feature_key() const noexcept { return key_of("attention heads", 1); }
    [[nodiscard]] constexpr bool prepare(scratch& own, tensor_info const& tensor) const noexcept {
        return attention_heads::make_room(own, attention_heads::sizes_of(tensor.shape, order::row_major));
    }
    constexpr void extract(scratch& own, observation const&, tensor_ref const& values, feature& out) const noexcept {
        attention_heads::extract(own, values, out);
    }
    [[nodiscard]] SPOTTER_STRICT constexpr extreme_head judge(observation const&,
                                                              std::span<double const> made) const noexcept {
        SPOTTER_STRICT_BODY
        extreme_head it;
        it.heads = attention_heads::count_in(made);
        for (std::size_t h = 0; h < it.heads; ++h) {
            attention_heads::head const one = attention_heads::of(made, h);
            it.count += one.share >= share ? 1U : 0U;
            if (h > 0 && one.share <= it.measured) { continue; }
            it.measured = one.share, it.head = h;
            it.position = static_cast<std::size_t>(one.position);
        }
        if (it.heads > 0) { it.holds = truth_of(it.count > 0); }
        return it;
    }
    [[nodiscard]] constexpr finding tell(violation const& who, extreme_head const& first) const noexcept {
        finding it = who.as_finding("heads look at one position, whatever the query", "share of one key",
                                    relation::greater_equal, share, severity::info);
        it.detail << "head " << first.head << " at key " << first.position << "; " << first.count << " of "
                  << first.heads << " heads are so";
        return it;
    }
    [[nodiscard]] constexpr std::string_view silence() const noexcept {
        return "no weights [head, query, key] or [batch, head, query, key] of four keys or more that add up to 1";
    }
};

}  // namespace spotter::inline SPOTTER_ABI
