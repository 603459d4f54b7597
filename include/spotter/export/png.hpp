// SPDX-License-Identifier: Apache-2.0
// Export (L5): pictures made from tensors, as uncompressed PNG files, so that no library is needed.
#pragma once

#include <spotter/export/row_major.hpp>

#include <optional>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// Rows from top to bottom, one byte for each channel: 1 grey, 3 red, green and blue, 4 with opacity.
struct picture {
    std::uint32_t width = 0, height = 0, channels = 1;  // in pixels; 1, 3 or 4 channels
    std::string pixels{};                               // width × height × channels bytes
};

// Height, width and channels of each picture in a tensor whose axes do not show them.
struct picture_shape {
    std::uint32_t height = 0, width = 0, channels = 1;  // in elements; 1, 3 or 4 channels, which are contiguous
};

namespace detail {

// Pictures in a tensor: their number, their sizes, and the strides of a row-major tensor.
struct picture_axes {
    std::uint64_t count = 0;
    picture_shape each{};
    std::uint64_t row = 0, column = 0, channel = 0;
};
[[nodiscard]] std::optional<picture_axes> picture_axes_of(extents const& shape,
                                                          std::optional<picture_shape> const& given);

}  // namespace detail

// The bytes of a PNG file.
[[nodiscard]] std::string png_of(picture const& it);

// The first `most` pictures of a tensor; empty where its axes do not fit pictures. Without a shape it accepts n x
// height x width, the same with 1, 3 or 4 channels last or after n, and height x width x channels. Values from 0 to 1
// are scaled to 0 to 255; values from 0 to 255 are kept; others are scaled from the least to the greatest of the whole
// tensor. Values that are not finite are black.
[[nodiscard]] std::vector<picture> pictures_of(tensor_ref const& tensor, std::size_t most,
                                               std::optional<picture_shape> const& given = {});

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/export/png.ipp>
#endif
