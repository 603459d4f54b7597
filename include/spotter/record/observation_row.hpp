// SPDX-License-Identifier: Apache-2.0
// Record (L4): an observation as a row, without its values.
#pragma once

#include <spotter/core/event.hpp>
#include <spotter/format/record.hpp>
#include <spotter/record/entry.hpp>
#include <spotter/stat/mask.hpp>

#include <cstddef>
#include <span>

namespace spotter::inline SPOTTER_ABI::detail {

// What is kept of it, its values left out. `counts` has room for all bins of a histogram, which the row then refers to.
void describe(observation const& seen, terms keep, std::span<std::byte> counts, rows::observe& row) noexcept;
// Bytes that it takes at most, with the head of values.
[[nodiscard]] std::size_t bound_of(rows::observe const& row) noexcept;

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/record/observation_row.ipp>
#endif
