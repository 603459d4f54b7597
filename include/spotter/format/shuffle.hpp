// SPDX-License-Identifier: Apache-2.0
// Format (L1): values to byte planes and back, so that bytes of one significance are compressed together.
#pragma once

#include <spotter/format/fwd.hpp>

#include <cstring>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

template <std::size_t Width>
inline void split_fixed(std::byte const* values, std::size_t count, std::byte* planes) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t plane = 0; plane < Width; ++plane) { planes[plane * count + i] = values[i * Width + plane]; }
    }
}
template <std::size_t Width>
inline void join_fixed(std::byte const* planes, std::size_t count, std::byte* values) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t plane = 0; plane < Width; ++plane) { values[i * Width + plane] = planes[plane * count + i]; }
    }
}

}  // namespace detail

// `count` values of `width` bytes (1, 2, 4 or 8): plane k is byte k of every value, the planes follow one another.
inline void split_planes(std::byte const* values, std::size_t count, std::size_t width, std::byte* planes) noexcept {
    switch (width) {
        case 2:
            detail::split_fixed<2>(values, count, planes);
            break;
        case 4:
            detail::split_fixed<4>(values, count, planes);
            break;
        case 8:
            detail::split_fixed<8>(values, count, planes);
            break;
        default:
            if (count > 0) { std::memcpy(planes, values, count * width); }
            break;
    }
}
inline void join_planes(std::byte const* planes, std::size_t count, std::size_t width, std::byte* values) noexcept {
    switch (width) {
        case 2:
            detail::join_fixed<2>(planes, count, values);
            break;
        case 4:
            detail::join_fixed<4>(planes, count, values);
            break;
        case 8:
            detail::join_fixed<8>(planes, count, values);
            break;
        default:
            if (count > 0) { std::memcpy(values, planes, count * width); }
            break;
    }
}

}  // namespace spotter::inline SPOTTER_ABI
