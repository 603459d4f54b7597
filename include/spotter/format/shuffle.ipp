// SPDX-License-Identifier: Apache-2.0
// The bodies of shuffle.hpp.
#pragma once

#include <spotter/format/fwd.hpp>
#include <spotter/format/shuffle.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY void split_planes(std::byte const* values, std::size_t count, std::size_t width,
                               std::byte* const* planes) noexcept {
    switch (width) {
        case 2:
            return detail::split_fixed<2>(values, count, planes);
        case 4:
            return detail::split_fixed<4>(values, count, planes);
        case 8:
            return detail::split_fixed<8>(values, count, planes);
        default:
            if (count > 0) { std::memcpy(planes[0], values, count); }
    }
}

SPOTTER_BODY void join_planes(std::byte const* const* planes, std::size_t count, std::size_t width,
                              std::byte* values) noexcept {
    switch (width) {
        case 2:
            return detail::join_fixed<2>(planes, count, values);
        case 4:
            return detail::join_fixed<4>(planes, count, values);
        case 8:
            return detail::join_fixed<8>(planes, count, values);
        default:
            if (count > 0) { std::memcpy(values, planes[0], count); }
    }
}

}  // namespace spotter::inline SPOTTER_ABI
