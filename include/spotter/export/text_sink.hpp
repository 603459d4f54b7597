// SPDX-License-Identifier: Apache-2.0
// Export (L5): where what is written goes.
#pragma once

#include <spotter/core/result.hpp>

#include <concepts>
#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// Where a text goes, piece by piece; an error ends the writing.
template <class Put>
concept text_sink = requires(Put put, std::string_view piece) {
    { put(piece) } -> std::convertible_to<error>;
};

}  // namespace spotter::inline SPOTTER_ABI
