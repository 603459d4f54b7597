// SPDX-License-Identifier: Apache-2.0
// Finds the row frames of a segment.
#pragma once

#include <spotter/format/walker.hpp>

#include <span>
#include <vector>

namespace spotter_test {

inline std::vector<spotter::row_frame> frames_of(std::span<std::byte const> segment) {
    std::vector<spotter::row_frame> found;
    spotter::frame_walker walk{segment};
    for (spotter::walked what = walk.next(); what != spotter::walked::end; what = walk.next()) {
        if (what == spotter::walked::rows) { found.push_back(walk.frame()); }
    }
    return found;
}

}  // namespace spotter_test
