// SPDX-License-Identifier: Apache-2.0
// The bodies of shuffle.hpp.
#pragma once

#include <spotter/format/shuffle.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY void split_planes(std::byte const* values, std::size_t count, payload_form form,
                               std::byte* const* planes) noexcept {
    bool const turned = form.rotated();
    switch (form.planes()) {
        case 2:
            return turned ? detail::split_fixed<2, true>(values, count, planes)
                          : detail::split_fixed<2, false>(values, count, planes);
        case 4:
            return turned ? detail::split_fixed<4, true>(values, count, planes)
                          : detail::split_fixed<4, false>(values, count, planes);
        case 8:
            return turned ? detail::split_fixed<8, true>(values, count, planes)
                          : detail::split_fixed<8, false>(values, count, planes);
        default:
            if (count > 0) { std::memcpy(planes[0], values, count); }
    }
}

SPOTTER_BODY void join_planes(std::byte const* const* planes, std::size_t count, payload_form form,
                              std::byte* values) noexcept {
    bool const turned = form.rotated();
    switch (form.planes()) {
        case 2:
            return turned ? detail::join_fixed<2, true>(planes, count, values)
                          : detail::join_fixed<2, false>(planes, count, values);
        case 4:
            return turned ? detail::join_fixed<4, true>(planes, count, values)
                          : detail::join_fixed<4, false>(planes, count, values);
        case 8:
            return turned ? detail::join_fixed<8, true>(planes, count, values)
                          : detail::join_fixed<8, false>(planes, count, values);
        default:
            if (count > 0) { std::memcpy(values, planes[0], count); }
    }
}

}  // namespace spotter::inline SPOTTER_ABI
