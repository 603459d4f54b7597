// SPDX-License-Identifier: Apache-2.0
// Trial (L4): decodes a distribution from its row.
#pragma once

#include <spotter/format/decode.hpp>
#include <spotter/stat/distribution.hpp>

#include <cstring>

namespace spotter::inline SPOTTER_ABI {

// Leaves out what was not stored, or was stored with other bins than this version's.
[[nodiscard]] inline distribution stored_distribution(rows::observe const& row) noexcept {
    distribution found;
    if (row.quantiles == found.quantiles.size()) {
        found.has_quantiles = true;
        std::memcpy(found.quantiles.data(), row.levels.data(), row.levels.size());
    }
    if (row.bins == found.bins.size()) {
        found.has_histogram = true;
        found.low = row.low;
        found.high = row.high;
        byte_reader in{row.counts};
        for (std::uint64_t& each : found.bins) { each = in.varint(); }
    }
    return found;
}

// The terms that the distribution holds.
[[nodiscard]] constexpr stats_mask terms_of(distribution const& it) noexcept {
    return (it.has_quantiles ? stats_mask::quantiles : stats_mask::none) |
           (it.has_histogram ? stats_mask::histogram : stats_mask::none);
}

}  // namespace spotter::inline SPOTTER_ABI
