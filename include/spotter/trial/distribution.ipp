// SPDX-License-Identifier: Apache-2.0
// The bodies of distribution.hpp.
#pragma once

#include <spotter/trial/distribution.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY distribution stored_distribution(rows::observe const& row) noexcept {
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

}  // namespace spotter::inline SPOTTER_ABI
