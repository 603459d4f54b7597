// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the bodies of picture.hpp.
#include "page/picture.hpp"

#include <spotter/config.hpp>

namespace spotter::inline SPOTTER_ABI::html {

std::string to_base64(std::vector<std::uint8_t> const& bytes) {
    constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::size_t const count = bytes.size() - i < 3 ? bytes.size() - i : 3;
        std::uint32_t group = 0;
        for (std::size_t k = 0; k < 3; ++k) { group = group << 8U | (k < count ? bytes[i + k] : 0U); }
        for (std::size_t k = 0; k < 4; ++k) { text += k <= count ? digits[group >> (18 - 6 * k) & 63U] : '='; }
    }
    return text;
}

std::string data_uri(picture const& it) {
    constexpr std::uint32_t head = 54;
    std::size_t const row = (3 * it.width + 3) / 4 * 4;
    std::vector<std::uint8_t> file;
    auto const put = [&](std::uint64_t value, int bytes) {
        for (int i = 0; i < bytes; ++i) { file.push_back(static_cast<std::uint8_t>(value >> (8 * i))); }
    };
    put(0x4D42, 2), put(head + row * it.height, 4), put(0, 4), put(head, 4);
    put(40, 4), put(it.width, 4), put(it.height, 4), put(1, 2), put(24, 2);
    for (int i = 0; i < 6; ++i) { put(0, 4); }
    for (std::size_t y = it.height; y-- > 0;) {  // the lowest row first, in the order blue, green, red
        for (std::size_t x = 0; x < it.width; ++x) {
            for (std::size_t k = 3; k-- > 0;) { file.push_back(it.pixels[3 * (y * it.width + x) + k]); }
        }
        file.resize(file.size() + row - 3 * it.width);
    }
    return "data:image/bmp;base64," + to_base64(file);
}

}  // namespace spotter::inline SPOTTER_ABI::html
