// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a NaN or an infinity in a selected tensor. docs/rules.md#exploding_tensor
#pragma once

#include <spotter/rule/builtin/judging.hpp>

namespace spotter::inline SPOTTER_ABI {

// Error at the close of a step of any mode with a NaN, or with an infinity unless `only_nan`; requests to skip the
// update. `measured` is the number of such elements. This is AWS's rule, for a `select`. `non_finite` finds the same
// and reports more about the origin.
struct exploding_tensor {
    using kind = rule_kind;
    static constexpr std::string_view name = "exploding_tensor";
    static constexpr std::string_view remedy =
        "Do not apply this update; inspect the inputs of the named tensor at the named index.";

    selector select = &select::everything;
    bool only_nan = false;  // infinities pass; AWS ExplodingTensor

    [[nodiscard]] static constexpr exploding_tensor sagemaker_defaults() noexcept { return {}; }

    struct bad_elements : judged_value {                  // of one observation
        std::uint64_t nan = 0, pos_inf = 0, neg_inf = 0;  // how many of each
        std::uint64_t first = no_index;                   // index in storage order
    };
    static constexpr stats_mask watched = stats_mask::nonfinite;
    [[nodiscard]] constexpr bad_elements judge(observation const& it) const noexcept {
        std::uint64_t const bad = only_nan ? it.stats.nan : it.stats.nonfinite();
        judged_value const here{static_cast<double>(bad), bad > 0};
        return {here, it.stats.nan, it.stats.pos_inf, it.stats.neg_inf,
                bad == it.stats.nonfinite() ? it.stats.first_bad : no_index};
    }
    [[nodiscard]] constexpr finding tell(violation const& who, bad_elements const& of) const noexcept {
        finding it = only_nan ? who.as_not_finite("tensor has a NaN", "NaN elements")
                              : who.as_not_finite("tensor is not finite");
        if (of.first != no_index) { it.detail << "first at index " << of.first << "; "; }
        it.detail << "nan " << of.nan << ", +inf " << of.pos_inf << ", -inf " << of.neg_inf;
        return it;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
