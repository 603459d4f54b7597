// SPDX-License-Identifier: Apache-2.0
// Format (L1): XXH64; its low half is the content checksum of a zstd frame (libzstd does not export it).
#pragma once

#include <spotter/format/bytes.hpp>

#include <bit>

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

#if SPOTTER_BODIES

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

#endif

}  // namespace spotter::inline SPOTTER_ABI
