// SPDX-License-Identifier: Apache-2.0
// Core (L0): conversion to smaller floating-point types; rounds to nearest, ties to even.
#pragma once

#include <spotter/core/dtype.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// The bits of the value nearest to a float in an IEEE-like format of that size. Overflow gives infinity; NaN stays NaN.
template <int ExponentBits, int MantissaBits>
[[nodiscard]] constexpr std::uint16_t narrow_bits(std::uint32_t bits) noexcept {
    constexpr std::uint32_t bias = (1U << (ExponentBits - 1)) - 1, top = (1U << ExponentBits) - 1;
    std::uint32_t const sign = bits >> 31 << (ExponentBits + MantissaBits), size = bits & 0x7FFFFFFFU;
    if (size > 0x7F800000U) {
        return static_cast<std::uint16_t>(sign | top << MantissaBits | 1U << (MantissaBits - 1));
    }
    constexpr int dropped = 23 - MantissaBits;
    auto const rounded = [](std::uint32_t value, int drop) -> std::uint32_t {
        if (drop > 31) { return 0; }
        std::uint32_t const half = 1U << (drop - 1), rest = value & ((half << 1) - 1), kept = value >> drop;
        return kept + (rest > half || (rest == half && (kept & 1U) != 0) ? 1U : 0U);
    };
    std::uint32_t const exponent = size >> 23;
    if (exponent + bias <= 127) {  // subnormal: the leading one becomes explicit
        int const drop = dropped + static_cast<int>(128 - bias - exponent);
        std::uint32_t const whole = exponent == 0 ? size : (size & 0x7FFFFFU) | 0x800000U;
        return static_cast<std::uint16_t>(sign | (exponent == 0 ? 0 : rounded(whole, drop)));
    }
    std::uint32_t const made = rounded(size - ((127 - bias) << 23), dropped);
    return static_cast<std::uint16_t>(sign | (made >= top << MantissaBits ? top << MantissaBits : made));
}

[[nodiscard]] constexpr f16 to_f16(float value) noexcept {
    return {narrow_bits<5, 10>(std::bit_cast<std::uint32_t>(value))};
}
[[nodiscard]] constexpr bf16 to_bf16(float value) noexcept {
    return {narrow_bits<8, 7>(std::bit_cast<std::uint32_t>(value))};
}

}  // namespace spotter::inline SPOTTER_ABI::detail
