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

constexpr void describe(every const& it, sentence& out) noexcept { out << "every{" << it.interval << '}'; }
constexpr void describe(from const& it, sentence& out) noexcept { out << "from{" << it.first << '}'; }
constexpr void describe(before const& it, sentence& out) noexcept { out << "before{" << it.end << '}'; }
constexpr void describe(sampled const& it, sentence& out) noexcept {
    out << "sampled{worker " << it.worker << " of " << it.workers << ", keep " << it.keep << ", seed " << it.seed
        << '}';
}
constexpr void describe(between const& it, sentence& out) noexcept {
    out << "between{" << it.first << ", " << it.end << '}';
}
constexpr void describe(during const& it, sentence& out) noexcept { out << "during{" << name_of(it.mode) << '}'; }
constexpr void describe(always const&, sentence& out) noexcept { out << "always"; }
constexpr void describe(never const&, sentence& out) noexcept { out << "never"; }
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

constexpr void describe(terms what, sentence& out) noexcept {
    constexpr struct {
        terms bit;
        char const* name;
    } names[] = {{terms::payload, "payload"},     {terms::range, "range"},
                 {terms::abs_range, "abs range"}, {terms::sum, "sum"},
                 {terms::sum_abs, "sum of |x|"},  {terms::sum_squares, "sum of squares"},
                 {terms::variance, "variance"},   {terms::product, "product"},
                 {terms::zeros, "zeros"},         {terms::change, "change"},
                 {terms::hash, "hash"},           {terms::unit_activity, "unit activity"},
                 {terms::quantiles, "quantiles"}, {terms::histogram, "histogram"},
                 {terms::nonfinite, "counts"},    {terms::shape, "shape"}};
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
