// SPDX-License-Identifier: Apache-2.0
// Format (L1): the table of CRC-64/XZ, with the reflected polynomial of ECMA-182, for eight bytes at a time.
#pragma once

#include <spotter/core/fwd.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace spotter::inline SPOTTER_ABI::detail {

using crc_rows = std::array<std::array<std::uint64_t, 256>, 8>;

[[nodiscard]] consteval crc_rows make_crc_table() noexcept {
    crc_rows made{};
    std::uint64_t rest = 1;
    for (std::size_t bit = 128; bit > 0; bit /= 2) {  // linear: two bytes add up by XOR
        rest = (rest >> 1) ^ ((rest & 1) != 0 ? 0xC96C5795D7870F42ULL : 0);
        for (std::size_t byte = 0; byte < 256; byte += 2 * bit) { made[0][byte + bit] = made[0][byte] ^ rest; }
    }
    for (std::size_t row = 1; row < 8; ++row) {
        for (std::size_t byte = 0; byte < 256; ++byte) {
            std::uint64_t const before = made[row - 1][byte];
            made[row][byte] = (before >> 8) ^ made[0][before & 0xFF];
        }
    }
    return made;
}

// Row k is the contribution of a byte with k bytes behind it.
inline constexpr crc_rows crc_table = make_crc_table();

}  // namespace spotter::inline SPOTTER_ABI::detail
