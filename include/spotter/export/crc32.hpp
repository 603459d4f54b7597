// SPDX-License-Identifier: Apache-2.0
// Export (L5): the checksums of zip and PNG files, and of TensorBoard's, eight bytes at a time.
#pragma once

#include <spotter/format/checksum.hpp>

namespace spotter::inline SPOTTER_ABI {

// CRC-32 of ISO 3309 (polynomial 0x04C11DB7, reflected; "123456789" gives 0xCBF43926), continued from the checksum
// `before`.
[[nodiscard]] std::uint32_t crc32(std::span<std::byte const> bytes, std::uint32_t before = 0) noexcept;
// CRC-32C of Castagnoli (polynomial 0x1EDC6F41, reflected; "123456789" gives 0xE3069283).
[[nodiscard]] std::uint32_t crc32c(std::span<std::byte const> bytes, std::uint32_t before = 0) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
namespace spotter::inline SPOTTER_ABI {

namespace detail {

inline constexpr crc_rows<std::uint32_t> crc32_table = make_crc_table<std::uint32_t>(0xEDB88320U);
inline constexpr crc_rows<std::uint32_t> crc32c_table = make_crc_table<std::uint32_t>(0x82F63B78U);

}  // namespace detail

SPOTTER_BODY std::uint32_t crc32(std::span<std::byte const> bytes, std::uint32_t before) noexcept {
    return detail::crc_of(bytes, detail::crc32_table, before);
}

SPOTTER_BODY std::uint32_t crc32c(std::span<std::byte const> bytes, std::uint32_t before) noexcept {
    return detail::crc_of(bytes, detail::crc32c_table, before);
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
