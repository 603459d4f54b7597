// SPDX-License-Identifier: Apache-2.0
// Format (L1): CRC-64/XZ, the checksum of every byte that zstd does not check, and XXH64.
#pragma once

#include <spotter/core/fwd.hpp>
#include <spotter/format/bytes.hpp>
#include <spotter/format/fwd.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// The constants and steps of the algorithm: github.com/Cyan4973/xxHash, doc/xxhash_spec.md.
inline constexpr std::uint64_t xxh_primes[] = {0x9E3779B185EBCA87ULL, 0xC2B2AE3D27D4EB4FULL, 0x165667B19E3779F9ULL,
                                               0x85EBCA77C2B2AE63ULL, 0x27D4EB2F165667C5ULL};

[[nodiscard]] SPOTTER_INLINE std::uint64_t xxh_round(std::uint64_t lane, std::uint64_t word) noexcept {
    return std::rotl(lane + word * xxh_primes[1], 31) * xxh_primes[0];
}

}  // namespace detail

// XXH64 with seed 0; about 10 GB/s.
[[nodiscard]] std::uint64_t xxh64(byte_view bytes) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

namespace spotter::inline SPOTTER_ABI::detail {

// Row k is the contribution of a byte with k bytes behind it.
template <class Word>
using crc_rows = std::array<std::array<Word, 256>, 8>;

template <class Word>
[[nodiscard]] consteval crc_rows<Word> make_crc_table(Word polynomial) noexcept {
    crc_rows<Word> made{};
    Word rest = 1;
    for (std::size_t bit = 128; bit > 0; bit /= 2) {  // linear: two bytes add up by XOR
        rest = (rest >> 1) ^ ((rest & 1) != 0 ? polynomial : 0);
        for (std::size_t byte = 0; byte < 256; byte += 2 * bit) { made[0][byte + bit] = made[0][byte] ^ rest; }
    }
    for (std::size_t row = 1; row < 8; ++row) {
        for (std::size_t byte = 0; byte < 256; ++byte) {
            Word const before = made[row - 1][byte];
            made[row][byte] = (before >> 8) ^ made[0][before & 0xFF];
        }
    }
    return made;
}
inline constexpr crc_rows<std::uint64_t> crc_table = make_crc_table<std::uint64_t>(0xC96C5795D7870F42ULL);

// The reflected checksum of 32 or 64 bits, continued from `before`.
template <class Word>
[[nodiscard]] Word crc_of(byte_view bytes, crc_rows<Word> const& table, Word before = 0) noexcept {
    Word crc = static_cast<Word>(~before);
    std::byte const* at = bytes.data();
    std::size_t left = bytes.size();
    for (; left >= 8; left -= 8, at += 8) {
        std::uint64_t const word = load<std::uint64_t>(at) ^ crc;
        crc = table[7][word & 0xFF] ^ table[6][(word >> 8) & 0xFF] ^ table[5][(word >> 16) & 0xFF] ^
              table[4][(word >> 24) & 0xFF] ^ table[3][(word >> 32) & 0xFF] ^ table[2][(word >> 40) & 0xFF] ^
              table[1][(word >> 48) & 0xFF] ^ table[0][static_cast<std::size_t>(word >> 56)];
    }
    for (; left > 0; --left, ++at) { crc = (crc >> 8) ^ table[0][(crc ^ static_cast<Word>(*at)) & 0xFF]; }
    return static_cast<Word>(~crc);
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

// CRC-64/XZ (ECMA-182 polynomial, reflected, initial value and final XOR all ones; for "123456789" it is
// 995DC9BBDF1939FA). It detects every burst of up to 64 wrong bits, and every odd number of wrong bits. It is preferred
// to a hash of the same size because it can also locate a single wrong byte. About 1.5 GB/s.
[[nodiscard]] std::uint64_t checksum(byte_view bytes) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY std::uint64_t xxh64(byte_view bytes) noexcept {
    constexpr auto const& prime = detail::xxh_primes;
    std::byte const* at = bytes.data();
    std::size_t left = bytes.size();
    std::uint64_t hash = prime[4];
    if (left >= 32) {
        std::uint64_t a = prime[0] + prime[1], b = prime[1], c = 0, d = 0 - prime[0];
        for (; left >= 32; left -= 32, at += 32) {
            a = detail::xxh_round(a, load<std::uint64_t>(at));
            b = detail::xxh_round(b, load<std::uint64_t>(at + 8));
            c = detail::xxh_round(c, load<std::uint64_t>(at + 16));
            d = detail::xxh_round(d, load<std::uint64_t>(at + 24));
        }
        hash = std::rotl(a, 1) + std::rotl(b, 7) + std::rotl(c, 12) + std::rotl(d, 18);
        for (std::uint64_t const lane : {a, b, c, d}) {
            hash = (hash ^ detail::xxh_round(0, lane)) * prime[0] + prime[3];
        }
    }
    hash += bytes.size();
    for (; left >= 8; left -= 8, at += 8) {
        hash = std::rotl(hash ^ detail::xxh_round(0, load<std::uint64_t>(at)), 27) * prime[0] + prime[3];
    }
    if (left >= 4) {
        hash = std::rotl(hash ^ load<std::uint32_t>(at) * prime[0], 23) * prime[1] + prime[2];
        left -= 4, at += 4;
    }
    for (; left > 0; --left, ++at) {
        hash = std::rotl(hash ^ static_cast<std::uint64_t>(*at) * prime[4], 11) * prime[0];
    }
    hash = (hash ^ hash >> 33) * prime[1];
    hash = (hash ^ hash >> 29) * prime[2];
    return hash ^ hash >> 32;
}

SPOTTER_BODY std::uint64_t checksum(byte_view bytes) noexcept { return detail::crc_of(bytes, detail::crc_table); }

}  // namespace spotter::inline SPOTTER_ABI
#endif
