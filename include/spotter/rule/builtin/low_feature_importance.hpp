// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): features with almost no importance. docs/rules.md#low_feature_importance
#pragma once

#include <spotter/rule/builtin/importances.hpp>
#include <spotter/rule/builtin/judging.hpp>

namespace spotter::inline SPOTTER_ABI {

// A feature is low where its share of all importances is below `relative` times 1/F, its share if all F features were
// equally important. Note when more than `max_low` of the features are low, after `warmup` observations of the tensor:
// the first tree uses few features. Train steps only.
struct low_feature_importance {
    using kind = rule_kind;
    static constexpr std::string_view name = "low_feature_importance";
    static constexpr std::string_view remedy =
        "Lower the depth limit; check dominant features for leakage; drop features that carry nothing.";
    static constexpr mode judged_in = mode::train;

    selector select = role::importance;
    double relative = 0.1;     // times 1/F
    double max_low = 0.5;      // fraction of the features
    std::uint64_t warmup = 1;  // observations

    struct kept {
        std::uint64_t count = 0;  // observations
    };
    static constexpr stats_mask watched = importances::needs;
    [[nodiscard]] constexpr std::uint64_t feature_key() const noexcept { return key_of(name, relative); }
    // Pushes the number of low features.
    constexpr void extract(observation const& it, tensor_ref const& values, feature& out) const noexcept {
        importances const all{it};
        if (all.known) { out.push(static_cast<double>(count_low(all, values))); }
    }
    [[nodiscard]] constexpr judged_value judge(kept& mine, observation const& it,
                                               std::span<double const> low) const noexcept {
        if (mine.count++ < warmup) { return {}; }
        importances const all{it};
        auto const features = static_cast<double>(all.features);
        if (!all.known || low.size() != 1 || !is_finite(low[0]) || !(low[0] >= 0) || low[0] > features) { return {}; }
        double const share = share_of(low[0], features);
        return {share, share > max_low};
    }
    [[nodiscard]] constexpr finding tell(violation const& who) const noexcept {
        return who.as_finding("most features carry next to nothing", "share of low features", relation::greater,
                              max_low, severity::info);
    }
    [[nodiscard]] constexpr std::string_view silence() const noexcept {
        return "warm-up not reached, a sum of zero, or values not recorded";
    }

private:
    [[nodiscard]] SPOTTER_STRICT constexpr std::uint64_t count_low(importances const& all,
                                                                   tensor_ref const& values) const noexcept {
        SPOTTER_STRICT_BODY
        double const limit = all.total * relative / static_cast<double>(all.features);
        std::uint64_t low = 0;
        importances::each(values, [&](std::size_t, double value) { low += value < limit ? 1U : 0U; });
        return low;
    }
    [[nodiscard]] SPOTTER_STRICT static constexpr double share_of(double const& part, double const& all) noexcept {
        SPOTTER_STRICT_BODY
        return part / all;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
