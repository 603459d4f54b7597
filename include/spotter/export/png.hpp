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
#include <spotter/core/casts.hpp>
#include <spotter/core/result.hpp>
#include <spotter/export/crc32.hpp>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI::detail {

// Adler-32, the checksum of a zlib stream.
[[nodiscard]] SPOTTER_BODY std::uint32_t adler32(std::string_view bytes) noexcept {
    std::uint32_t a = 1, b = 0;
    while (!bytes.empty()) {
        std::string_view const part = bytes.substr(0, 5552);  // the sums cannot overflow within this many bytes
        for (char const each : part) {
            a += static_cast<unsigned char>(each);
            b += a;
        }
        a %= 65521;
        b %= 65521;
        bytes.remove_prefix(part.size());
    }
    return b << 16U | a;
}

SPOTTER_BODY void put_big_endian(std::uint32_t value, std::string& into) {
    for (int shift = 24; shift >= 0; shift -= 8) { into += static_cast<char>(value >> shift & 0xFFU); }
}

SPOTTER_BODY void put_png_chunk(std::string_view kind, std::string_view data, std::string& into) {
    put_big_endian(static_cast<std::uint32_t>(data.size()), into);
    std::string const body = std::string{kind} + std::string{data};
    into += body;
    put_big_endian(crc32(std::as_bytes(std::span{body.data(), body.size()})), into);
}

// Deflate's stored blocks, of at most 65535 bytes.
[[nodiscard]] SPOTTER_BODY std::string stored_zlib(std::string_view bytes) {
    std::uint32_t const sum = adler32(bytes);
    std::string stream{"\x78\x01"};
    do {
        std::string_view const part = bytes.substr(0, 65535);
        bytes.remove_prefix(part.size());
        auto const size = static_cast<std::uint32_t>(part.size());
        stream += static_cast<char>(bytes.empty() ? 1 : 0);
        for (std::uint32_t const each : {size, ~size}) {
            stream += static_cast<char>(each & 0xFFU);
            stream += static_cast<char>(each >> 8U & 0xFFU);
        }
        stream += part;
    } while (!bytes.empty());
    put_big_endian(sum, stream);
    return stream;
}

[[nodiscard]] SPOTTER_BODY bool are_channels(std::uint64_t count) noexcept {
    return count == 1 || count == 3 || count == 4;
}

[[nodiscard]] SPOTTER_BODY std::optional<picture_axes> picture_axes_from(std::uint64_t count, std::uint64_t height,
                                                                         std::uint64_t width, std::uint64_t channels,
                                                                         bool planes = false) {
    constexpr std::uint64_t most = 16384;  // pixels along an axis
    if (count == 0 || height == 0 || width == 0 || height > most || width > most || !are_channels(channels)) {
        return {};
    }
    picture_shape const one{static_cast<std::uint32_t>(height), static_cast<std::uint32_t>(width),
                            static_cast<std::uint32_t>(channels)};
    if (planes) { return picture_axes{count, one, width, 1, height * width}; }
    return picture_axes{count, one, width * channels, channels, 1};
}

SPOTTER_BODY std::optional<picture_axes> picture_axes_of(extents const& shape,
                                                         std::optional<picture_shape> const& given) {
    auto const size = shape.view();
    if (given) {
        std::uint64_t const pixels = std::uint64_t{given->height} * given->width * given->channels;
        if (pixels == 0 || shape.elements() == 0 || shape.elements() % pixels != 0) { return {}; }
        return picture_axes_from(shape.elements() / pixels, given->height, given->width, given->channels);
    }
    if (size.size() == 3) {
        return are_channels(size[2]) ? picture_axes_from(1, size[0], size[1], size[2])
                                     : picture_axes_from(size[0], size[1], size[2], 1);
    }
    if (size.size() != 4) { return {}; }
    return are_channels(size[3]) ? picture_axes_from(size[0], size[1], size[2], size[3])
                                 : picture_axes_from(size[0], size[2], size[3], size[1], true);
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY std::string png_of(picture const& it) {
    std::string header;
    detail::put_big_endian(it.width, header);
    detail::put_big_endian(it.height, header);
    header += '\x08';
    header += static_cast<char>(it.channels == 4 ? 6 : it.channels == 3 ? 2 : 0);
    header.append(3, '\0');
    std::string rows;
    std::size_t const row = std::size_t{it.width} * it.channels;
    for (std::size_t i = 0; i < it.height; ++i) {
        rows += '\0';  // no filter
        rows.append(it.pixels, i * row, row);
    }
    std::string file{"\x89PNG\r\n\x1A\n"};
    detail::put_png_chunk("IHDR", header, file);
    detail::put_png_chunk("IDAT", detail::stored_zlib(rows), file);
    detail::put_png_chunk("IEND", {}, file);
    return file;
}

SPOTTER_BODY std::vector<picture> pictures_of(tensor_ref const& tensor, std::size_t most,
                                              std::optional<picture_shape> const& given) {
    std::vector<picture> found;
    auto const axes = detail::picture_axes_of(tensor.shape, given);
    if (!axes) { return found; }
    std::uint64_t replaced = 0;
    std::vector<double> const numbers = row_major_numbers(tensor, replaced);
    auto const [least, greatest] = std::minmax_element(numbers.begin(), numbers.end());
    bool const bytes = *least >= 0 && *greatest <= 255 && *greatest > 1;
    double const low = *least < 0 || *greatest > 255 ? *least : 0;
    double const range = bytes ? 255 : *least < 0 || *greatest > 255 ? *greatest - *least : 1;
    std::uint64_t const pixels = std::uint64_t{axes->each.height} * axes->each.width * axes->each.channels;
    for (std::uint64_t k = 0; k < axes->count && k < most; ++k) {
        picture one{axes->each.width, axes->each.height, axes->each.channels, {}};
        for (std::uint64_t y = 0; y < one.height; ++y) {
            for (std::uint64_t x = 0; x < one.width; ++x) {
                for (std::uint64_t c = 0; c < one.channels; ++c) {
                    double const value =
                        numbers[as_size(k * pixels + y * axes->row + x * axes->column + c * axes->channel)];
                    double const shade = range > 0 ? (value - low) / range * 255 : 0;
                    one.pixels += static_cast<char>(static_cast<unsigned char>(shade + 0.5));
                }
            }
        }
        found.push_back(std::move(one));
    }
    return found;
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
