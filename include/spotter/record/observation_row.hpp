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
#include <spotter/record/observation_row.ipp>
#endif
