// SPDX-License-Identifier: Apache-2.0
// The bodies of distribution.hpp.
#pragma once

#include <spotter/stat/any_values.hpp>
#include <spotter/stat/distribution.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_WHERE_CALLED_BODY distribution distribution_of(tensor_ref const& tensor, stats_mask wanted,
                                                       std::span<std::uint64_t> scratch) noexcept {
    distribution found;
    std::size_t count = 0;
    std::uint64_t least = ~std::uint64_t{0}, greatest = 0;
    bool const sorted = has(wanted, stats_mask::quantiles) && scratch.size() >= tensor.count;
    if (tensor.type == dtype::text) { return found; }
    visit_seen(tensor, [&](auto const& values) {
        for (auto const& each : values) {
            seen_element const it = detail::see(each);
            if (it.kind >= number_class::pos_inf) { continue; }
            std::uint64_t const key = detail::key_of(it.value);
            if (sorted) { scratch[count] = key; }
            ++count;
            least = key < least ? key : least;
            greatest = key > greatest ? key : greatest;
        }
    });
    if (count == 0) { return found; }
    if (has(wanted, stats_mask::histogram)) {
        found.has_histogram = true;
        found.low = detail::value_of_key(least);
        found.high = detail::value_of_key(greatest);
        visit_seen(tensor, [&](auto const& values) {
            for (auto const& each : values) {
                seen_element const it = detail::see(each);
                if (it.kind < number_class::pos_inf) { ++found.bins[detail::bin_of(it.value, found.low, found.high)]; }
            }
        });
    }
    if (sorted) {
        found.has_quantiles = true;
        std::array<std::size_t, quantile_levels.size()> ranks{};
        for (std::size_t i = 0; i < ranks.size(); ++i) { ranks[i] = detail::nearest_rank(quantile_levels[i], count); }
        detail::select_ranks(scratch.first(count), 0, ranks);
        for (std::size_t i = 0; i < ranks.size(); ++i) { found.quantiles[i] = detail::value_of_key(scratch[ranks[i]]); }
    }
    return found;
}

}  // namespace spotter::inline SPOTTER_ABI
