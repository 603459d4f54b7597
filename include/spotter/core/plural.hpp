// SPDX-License-Identifier: Apache-2.0
// Core (L0): a count with its noun.
#pragma once

#include <spotter/core/text.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// "1 step", "2 steps": of a word that ends in s where it is more than one.
[[nodiscard]] constexpr text<60> plural(std::uint64_t count, std::string_view what) noexcept {
    text<60> line;
    line << count << ' ' << what;
    return count == 1 ? line : line << 's';
}

}  // namespace spotter::inline SPOTTER_ABI::detail
