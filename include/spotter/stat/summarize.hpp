// SPDX-License-Identifier: Apache-2.0
// Stat (L1): a tensor and the terms that are wanted of it give a summary.
#pragma once

#include <spotter/core/tensor_ref.hpp>
#include <spotter/stat/summary.hpp>

namespace spotter::inline SPOTTER_ABI {

// The terms of `wanted` that a pass over the values can give (not delta, features or payload); the non-finite counts come with
// any of them, and nothing is read for none. O(n), no allocation; memory is read once per block and again from cache. Of a text none is
// known: its letters are no numbers.
SPOTTER_WHERE_CALLED [[nodiscard]] summary summarize(tensor_ref const& tensor, terms wanted) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/stat/summarize.ipp>
#endif
