// SPDX-License-Identifier: Apache-2.0
// Format (L1): CRC-64/XZ, the checksum of every byte that zstd does not check.
#pragma once

#include <spotter/format/fwd.hpp>

#include <array>
#include <cstring>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Eight bytes at a time (slicing by 8): row k is the effect of a byte that k more bytes follow.
using crc_tables = std::array<std::array<std::uint64_t, 256>, 8>;

[[nodiscard]] consteval crc_tables make_crc_tables() noexcept {
    crc_tables tables{};
    for (std::uint64_t byte = 0; byte < 256; ++byte) {
        std::uint64_t rest = byte;
        for (int bit = 0; bit < 8; ++bit) { rest = (rest >> 1) ^ ((rest & 1) != 0 ? 0xC96C5795D7870F42ULL : 0); }
        tables[0][byte] = rest;
    }
    for (std::size_t slice = 1; slice < 8; ++slice) {
        for (std::size_t byte = 0; byte < 256; ++byte) {
            std::uint64_t const before = tables[slice - 1][byte];
            tables[slice][byte] = (before >> 8) ^ tables[0][before & 0xFF];
        }
    }
    return tables;
}
inline constexpr crc_tables crc_table = make_crc_tables();

}  // namespace detail

// CRC-64/XZ (ECMA-182 polynomial, reflected, all ones before and after; of "123456789" it is 995DC9BBDF1939FA). It finds
// every error of up to 64 bits in a row and every odd number of them. Preferred to a hash of the same size because it can
// also locate a single wrong byte; about 1.5 GB/s.
[[nodiscard]] inline std::uint64_t checksum(byte_view bytes) noexcept {
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
              table[1][(word >> 48) & 0xFF] ^ table[0][word >> 56];
    }
    for (; left > 0; --left, ++at) { crc = (crc >> 8) ^ table[0][(crc ^ static_cast<std::uint64_t>(*at)) & 0xFF]; }
    return ~crc;
}

}  // namespace spotter::inline SPOTTER_ABI
