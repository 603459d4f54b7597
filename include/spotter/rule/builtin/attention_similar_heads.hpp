// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): heads of a layer that attend to the same keys. docs/rules.md#attention_similar_heads
#pragma once

#include <spotter/rule/builtin/attention_heads.hpp>
#include <spotter/rule/builtin/judging.hpp>

namespace spotter::inline SPOTTER_ABI {

// Note when two heads of a layer attend to the same keys: their total variation distance (half the sum of the
// differences of a query's weights, 0 to 1), as the mean over queries, is at most `max_distance` in `patience`
// observations in a row. Heads with nearly uniform weights (normalised entropy of at least `max_entropy`) are all alike
// before training, and are not compared. Similar heads are known from trained nets (Clark et al. 2019, "What Does BERT
// Look At?", who use the Jensen-Shannon divergence). Weights are [head, query, key] or [batch, head, query, key].
struct attention_similar_heads {
    using kind = rule_kind;
    static constexpr std::string_view name = "attention_similar_heads";
    static constexpr std::string_view remedy = "Fewer heads may do as well: prune one of them and see.";

    selector select = "{attention/*,*/attention}";
    double max_distance = 0.1;    // 1: heads that attend to different keys
    double max_entropy = 0.9;     // fraction of the entropy of uniform weights
    std::uint64_t patience = 10;  // observations

    using scratch = attention_heads::scratch;
    struct nearest_heads : judged_value {  // the nearest two, and the number of heads that have a similar one
        std::size_t head = 0, other = 0, count = 0, heads = 0;  // indices from 0; count and heads are numbers of heads
    };
    static constexpr stats_mask watched = stats_mask::feature;
    [[nodiscard]] constexpr std::uint64_t feature_key() const noexcept { return key_of("attention heads", 1); }
    [[nodiscard]] constexpr bool prepare(scratch& own, tensor_info const& tensor) const noexcept {
        return attention_heads::make_room(own, attention_heads::sizes_of(tensor.shape, order::row_major));
    }
    constexpr void extract(scratch& own, observation const&, tensor_ref const& values, feature& out) const noexcept {
        attention_heads::extract(own, values, out);
    }
    [[nodiscard]] SPOTTER_STRICT constexpr nearest_heads judge(observation const&,
                                                               std::span<double const> made) const noexcept {
        SPOTTER_STRICT_BODY
        nearest_heads it;
        it.heads = attention_heads::count_in(made);
        if (it.heads < 2) { return it; }
        it.holds = truth::no, it.measured = 1;
        for (std::size_t h = 0; h < it.heads; ++h) {
            attention_heads::head const one = attention_heads::of(made, h);
            if (one.entropy >= max_entropy || one.distance > max_distance) { continue; }
            ++it.count;
            if (it.count > 1 && one.distance >= it.measured) { continue; }
            it.measured = one.distance, it.head = h;
            it.other = static_cast<std::size_t>(one.next);
        }
        if (it.count > 0) { it.holds = truth::yes; }
        return it;
    }
    [[nodiscard]] constexpr finding tell(violation const& who, nearest_heads const& first) const noexcept {
        finding it = who.as_finding("heads do the same", "distance of their weights", relation::less_equal,
                                    max_distance, severity::info);
        it.detail << "heads " << first.head << " and " << first.other << "; " << first.count << " of " << first.heads
                  << " have one like them";
        return it;
    }
    [[nodiscard]] constexpr std::string_view silence() const noexcept {
        return "no weights [head, query, key] or [batch, head, query, key] of two heads and four keys that add up to 1";
    }
};

}  // namespace spotter::inline SPOTTER_ABI
