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

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/format/xxh64.ipp>
#endif
