// SPDX-License-Identifier: Apache-2.0
// Preflight (L4): the examination: which experiments it makes, in which order, and what it reports.
#pragma once

#include <spotter/preflight/examination.hpp>
#include <spotter/preflight/result.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Throws nothing: an exception of the program's functions is reported as a finding. `original` may be null.
[[nodiscard]] preflight_result examine(examination const& exam, original_net const* original) noexcept;

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/preflight/examine.ipp>
#endif
