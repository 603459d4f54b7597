// SPDX-License-Identifier: Apache-2.0
// Trial (L4): decodes a distribution from its row.
#pragma once

#include <spotter/format/decode.hpp>
#include <spotter/stat/distribution.hpp>

namespace spotter::inline SPOTTER_ABI {

// Leaves out what was not stored, or was stored with other bins than this version's.
[[nodiscard]] distribution stored_distribution(rows::observe const& row) noexcept;

// The terms that the distribution holds.
[[nodiscard]] constexpr terms terms_of(distribution const& it) noexcept {
    return (it.has_quantiles ? terms::quantiles : terms::none) | (it.has_histogram ? terms::histogram : terms::none);
}

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/trial/distribution.ipp>
#endif
