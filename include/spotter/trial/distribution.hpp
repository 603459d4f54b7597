// SPDX-License-Identifier: Apache-2.0
// Trial (L4): a distribution as its row holds it.
#pragma once

#include <spotter/format/decode.hpp>
#include <spotter/stat/distribution.hpp>

namespace spotter::inline SPOTTER_ABI {

// What was not stored, or in another division than this version's, is not there.
[[nodiscard]] distribution stored_distribution(rows::observe const& row) noexcept;

// The terms of it that are there.
[[nodiscard]] constexpr terms terms_of(distribution const& it) noexcept {
    return (it.has_quantiles ? terms::quantiles : terms::none) | (it.has_histogram ? terms::histogram : terms::none);
}

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/trial/distribution.ipp>
#endif
