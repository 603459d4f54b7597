// SPDX-License-Identifier: Apache-2.0
// Format (L1): CRC-64/XZ, the checksum of every byte that zstd does not check.
#pragma once

#include <spotter/format/fwd.hpp>

namespace spotter::inline SPOTTER_ABI {

// CRC-64/XZ (ECMA-182 polynomial, reflected, initial value and final XOR all ones; for "123456789" it is
// 995DC9BBDF1939FA). It detects every burst of up to 64 wrong bits, and every odd number of wrong bits. It is preferred
// to a hash of the same size because it can also locate a single wrong byte. About 1.5 GB/s.
[[nodiscard]] std::uint64_t checksum(byte_view bytes) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/format/checksum.ipp>
#endif
