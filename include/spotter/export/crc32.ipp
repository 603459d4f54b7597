// SPDX-License-Identifier: Apache-2.0
// The bodies of crc32.hpp.
#pragma once

#include <spotter/export/crc32.hpp>

#include <bit>
#include <cstring>

namespace spotter::inline SPOTTER_ABI::detail {

[[nodiscard]] SPOTTER_BODY std::uint32_t crc32_by(crc32_tables const& table, std::span<std::byte const> bytes,
                                                  std::uint32_t before) noexcept {
    static_assert(std::endian::native == std::endian::little);
    std::uint32_t crc = ~before;
    std::byte const* at = bytes.data();
    std::size_t left = bytes.size();
    for (; left >= 8; left -= 8, at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, at, sizeof word);
        word ^= crc;
        crc = 0;
        for (unsigned k = 0; k < 8; ++k) { crc ^= table[7 - k][(word >> (8 * k)) & 0xFFU]; }
    }
    for (; left > 0; --left, ++at) { crc = (crc >> 8U) ^ table[0][(crc ^ static_cast<std::uint32_t>(*at)) & 0xFFU]; }
    return ~crc;
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY std::uint32_t crc32(std::span<std::byte const> bytes, std::uint32_t before) noexcept {
    return detail::crc32_by(detail::crc32_table, bytes, before);
}

SPOTTER_BODY std::uint32_t crc32c(std::span<std::byte const> bytes, std::uint32_t before) noexcept {
    return detail::crc32_by(detail::crc32c_table, bytes, before);
}

}  // namespace spotter::inline SPOTTER_ABI
