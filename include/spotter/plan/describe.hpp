// SPDX-License-Identifier: Apache-2.0
// Plan (L2): policies and the contents of collections as text.
#pragma once

#include <spotter/core/describe.hpp>
#include <spotter/plan/policy.hpp>
#include <spotter/stat/mask.hpp>

namespace spotter::inline SPOTTER_ABI {

// For a user's policies and patterns without their own `describe`.
template <policy Policy>
constexpr void describe(Policy const&, sentence& out) noexcept {
    out << "a function of the step";
}
template <pattern Pattern>
constexpr void describe(Pattern const&, sentence& out) noexcept {
    out << "a function of the tensor";
}

void describe(every const& it, sentence& out) noexcept;
void describe(from const& it, sentence& out) noexcept;
void describe(before const& it, sentence& out) noexcept;
void describe(sampled const& it, sentence& out) noexcept;
void describe(between const& it, sentence& out) noexcept;
void describe(during const& it, sentence& out) noexcept;
void describe(always const&, sentence& out) noexcept;
void describe(never const&, sentence& out) noexcept;
template <policy Policy>
constexpr void describe(by_default<Policy> const& it, sentence& out) noexcept {
    describe(it.policy, out);
}
template <std::size_t Count>
constexpr void describe(at<Count> const& it, sentence& out) noexcept {
    char const* comma = "at{";
    for (std::uint64_t each : it.indices) {
        out << comma << each;
        comma = ", ";
    }
    out << '}';
}

void describe(stats_mask what, sentence& out) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
namespace spotter::inline SPOTTER_ABI {

SPOTTER_COLD_BODY void describe(every const& it, sentence& out) noexcept { out << "every{" << it.interval << '}'; }
SPOTTER_COLD_BODY void describe(from const& it, sentence& out) noexcept { out << "from{" << it.first << '}'; }
SPOTTER_COLD_BODY void describe(before const& it, sentence& out) noexcept { out << "before{" << it.end << '}'; }
SPOTTER_COLD_BODY void describe(sampled const& it, sentence& out) noexcept {
    out << "sampled{worker " << it.worker << " of " << it.workers << ", keep " << it.keep << ", seed " << it.seed
        << '}';
}
SPOTTER_COLD_BODY void describe(between const& it, sentence& out) noexcept {
    out << "between{" << it.first << ", " << it.end << '}';
}
SPOTTER_COLD_BODY void describe(during const& it, sentence& out) noexcept {
    out << "during{" << name_of(it.mode) << '}';
}
SPOTTER_COLD_BODY void describe(always const&, sentence& out) noexcept { out << "always"; }
SPOTTER_COLD_BODY void describe(never const&, sentence& out) noexcept { out << "never"; }

SPOTTER_COLD_BODY void describe(stats_mask what, sentence& out) noexcept {
    constexpr struct {
        stats_mask bit;
        char const* name;
    } names[] = {{stats_mask::payload, "payload"},     {stats_mask::range, "range"},
                 {stats_mask::abs_range, "abs range"}, {stats_mask::sum, "sum"},
                 {stats_mask::sum_abs, "sum of |x|"},  {stats_mask::sum_squares, "sum of squares"},
                 {stats_mask::variance, "variance"},   {stats_mask::product, "product"},
                 {stats_mask::zeros, "zeros"},         {stats_mask::change, "change"},
                 {stats_mask::hash, "hash"},           {stats_mask::unit_activity, "unit activity"},
                 {stats_mask::quantiles, "quantiles"}, {stats_mask::histogram, "histogram"},
                 {stats_mask::nonfinite, "counts"},    {stats_mask::shape, "shape"}};
    char const* comma = "";
    for (auto const& each : names) {
        if (has(what, each.bit)) {
            out << comma << each.name;
            comma = ", ";
        }
    }
    if (unsigned const chain = detail::chain_of(what); chain > 0) { out << ", as delta{" << chain << '}'; }
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
