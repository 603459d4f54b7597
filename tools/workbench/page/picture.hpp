// SPDX-License-Identifier: Apache-2.0
// Workbench, page: small pictures from numbers, embedded in the page.
#pragma once

#include <spotter/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI::html {

// Rows from top to bottom; three bytes a pixel: red, green, blue.
struct picture {
    std::size_t width = 0, height = 0;   // in pixels
    std::vector<std::uint8_t> pixels{};  // 3 × width × height bytes
};

[[nodiscard]] std::string
to_base64(std::vector<std::uint8_t> const& bytes);  // RFC 4648, section 4: padded, without line breaks

// As a Windows bitmap: every browser draws it, and unlike PNG it needs neither compression nor a checksum.
[[nodiscard]] std::string data_uri(picture const& it);

}  // namespace spotter::inline SPOTTER_ABI::html
