// SPDX-License-Identifier: Apache-2.0
// Export (L5): the checksums of zip and PNG files, and of TensorBoard's, eight bytes at a time.
#pragma once

#include <spotter/config.hpp>

#include <array>
#include <cstdint>
#include <span>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

using crc32_tables = std::array<std::array<std::uint32_t, 256>, 8>;

// Table k holds the effect of a byte on the checksum k bytes later.
[[nodiscard]] consteval crc32_tables make_crc32_tables(std::uint32_t polynomial) noexcept {
    crc32_tables tables{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit) { crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? polynomial : 0U); }
        tables[0][byte] = crc;
    }
    for (std::size_t k = 1; k < tables.size(); ++k) {
        for (std::size_t byte = 0; byte < 256; ++byte) {
            std::uint32_t const before = tables[k - 1][byte];
            tables[k][byte] = (before >> 8U) ^ tables[0][before & 0xFFU];
        }
    }
    return tables;
}
inline constexpr crc32_tables crc32_table = make_crc32_tables(0xEDB88320U);
inline constexpr crc32_tables crc32c_table = make_crc32_tables(0x82F63B78U);

}  // namespace detail

// CRC-32 of ISO 3309 (polynomial 0x04C11DB7, reflected; "123456789" gives 0xCBF43926), continued from the checksum
// `before`.
[[nodiscard]] std::uint32_t crc32(std::span<std::byte const> bytes, std::uint32_t before = 0) noexcept;
// CRC-32C of Castagnoli (polynomial 0x1EDC6F41, reflected; "123456789" gives 0xE3069283).
[[nodiscard]] std::uint32_t crc32c(std::span<std::byte const> bytes, std::uint32_t before = 0) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
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

#endif
