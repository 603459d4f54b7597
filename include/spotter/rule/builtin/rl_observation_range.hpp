// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): observations far outside the range that suits networks. docs/rules.md#rl_observation_range
#pragma once

#include <spotter/rule/builtin/environment.hpp>
#include <spotter/rule/builtin/judging.hpp>
#include <spotter/stat/any_values.hpp>

namespace spotter::inline SPOTTER_ABI {

// Error at once where an observation of the environment is not finite. Warning when more than `share` of its finite
// elements exceed `limit` in size. Integer tensors are not watched. Train steps only.
struct rl_observation_range {
    using kind = rule_kind;
    static constexpr std::string_view name = "rl_observation_range";
    static constexpr std::string_view remedy =
        "Check the environment's reward, reset and observation scaling, or the target update.";
    static constexpr mode judged_in = mode::train;

    selector select = &select::real_observations;
    double limit = 10;    // size of an element; VecNormalize of Stable-Baselines3 clips there
    double share = 0.01;  // fraction of the elements

    static constexpr std::string_view not_finite = "observation is not finite";
    static constexpr stats_mask watched = stats_mask::feature | stats_mask::nonfinite;
    [[nodiscard]] constexpr std::uint64_t feature_key() const noexcept { return key_of(name, limit); }
    // Pushes the number of elements beyond the limit, and the number of finite ones.
    constexpr void extract(observation const&, tensor_ref const& values, feature& out) const noexcept {
        std::uint64_t beyond = 0, finite = 0;
        visit_seen(values, [&](auto const& all) {
            for (auto const& each : all) {
                seen_element const one = detail::see(each);
                if (one.kind >= number_class::pos_inf) { continue; }
                ++finite;
                beyond += one.size > limit ? 1U : 0U;
            }
        });
        out.push(static_cast<double>(beyond));
        out.push(static_cast<double>(finite));
    }
    [[nodiscard]] constexpr judged_value judge(observation const&, std::span<double const> counts) const noexcept {
        if (counts.size() != 2 || !(counts[1] > 0)) { return {}; }
        double const found = detail::quotient(counts[0], counts[1]);
        return {found, found > share};
    }
    [[nodiscard]] constexpr finding tell(violation const& who) const noexcept {
        finding it =
            who.as_finding("observations are out of range", "share beyond the limit", relation::greater, share);
        it.detail << "limit " << limit;
        return it;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
