// SPDX-License-Identifier: Apache-2.0
// Record (L4): encodes an observation as a row, without its values.
#pragma once

#include <spotter/core/event.hpp>
#include <spotter/format/record.hpp>
#include <spotter/record/entry.hpp>
#include <spotter/stat/mask.hpp>

#include <cstddef>
#include <span>

namespace spotter::inline SPOTTER_ABI::detail {

// Fills `row` with the kept terms, without values. `counts` has room for all bins of a histogram; the row refers to it.
void describe(observation const& seen, stats_mask keep, std::span<std::byte> counts, rows::observe& row) noexcept;
// Most bytes of the row, with a values_head.
[[nodiscard]] std::size_t bound_of(rows::observe const& row) noexcept;

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/stat/distribution.hpp>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY void take_distribution(distribution const& from, stats_mask keep, std::span<std::byte> counts,
                                    rows::observe& row) noexcept {
    if (from.has_quantiles && has(keep, stats_mask::quantiles)) {
        row.quantiles = from.quantiles.size();
        row.levels = bytes_of(from.quantiles.data(), from.quantiles.size());
    }
    if (from.has_histogram && has(keep, stats_mask::histogram)) {
        byte_writer out{counts.data(), counts.size()};
        for (std::uint64_t const each : from.bins) { out.varint(each); }
        row.bins = from.bins.size();
        row.low = from.low;
        row.high = from.high;
        row.counts = out.view();
    }
}

SPOTTER_INLINE void describe(observation const& seen, stats_mask keep, std::span<std::byte> counts,
                             rows::observe& row) noexcept {
    row.id = seen.tensor.id;
    row.step = seen.step;
    if (has(keep, stats_mask::unit_activity)) {
        row.units = (std::min)(seen.units.active.size(), seen.units.finite.size());
        row.axis = static_cast<std::uint8_t>(seen.units.axis);
        row.active = bytes_of(seen.units.active.data(), as_size(row.units));
        row.finite = bytes_of(seen.units.finite.data(), as_size(row.units));
    }
    if (seen.distribution != nullptr) { take_distribution(*seen.distribution, keep, counts, row); }
    tensor_ref const& view = seen.view;
    row.has_values = has(keep, stats_mask::payload) && !view.absent() && view.refused == refusal::none;
    row.type = view.type;
    row.layout = view.layout;
    row.shape = view.shape;
}

SPOTTER_INLINE std::size_t bound_of(rows::observe const& row) noexcept {
    return observe_limit + sizeof(ring_tag::values_head) + as_size(row.units) * 8 + row.levels.size() +
           row.counts.size();
}

}  // namespace spotter::inline SPOTTER_ABI::detail

#endif
