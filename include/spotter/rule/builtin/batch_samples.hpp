// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): how many samples a batch has.
#pragma once

#include <spotter/core/event.hpp>

namespace spotter::inline SPOTTER_ABI {

// Samples along the batch axis, the first by default. A vector is a single sample, unless its axis is stated to be that
// of the batch (`batch_axis(0)`); one number is a single sample.
[[nodiscard]] constexpr std::uint64_t samples_of(extents const& shape, flag flags) noexcept {
    int const stated = batch_axis_of(flags);
    std::size_t const axis = stated < 0 ? 0 : static_cast<std::size_t>(stated);
    return axis < shape.rank && (stated >= 0 || shape.rank > 1) ? shape.size[axis] : 1;
}
[[nodiscard]] constexpr std::uint64_t samples_of(observation const& it) noexcept {
    return samples_of(it.view.shape, it.tensor.flags);
}

}  // namespace spotter::inline SPOTTER_ABI
