// SPDX-License-Identifier: Apache-2.0
// Format (L1): the layout of values before compression, as one byte in a row.
#pragma once

#include <spotter/config.hpp>

#include <cstddef>
#include <cstdint>

namespace spotter::inline SPOTTER_ABI {

// The low four bits are the number of byte planes, which is also the width of a value; 1: the values are not split. The
// other bits are new in version 2 of the format.
struct payload_form {
    static constexpr std::uint8_t plane_bits = 15;   // the number of planes
    static constexpr std::uint8_t rotated_bit = 16;  // see rotated()
    static constexpr std::uint8_t masked_bit = 32;   // see masked()

    std::uint8_t bits = 1;  // as in a row

    // The number of planes; also the bytes of a value.
    [[nodiscard]] constexpr std::size_t planes() const noexcept { return bits & plane_bits; }
    // The bits of each value are rotated left by one before the split: the exponent then has a byte of its own, and the
    // sign is the lowest bit.
    [[nodiscard]] constexpr bool rotated() const noexcept { return (bits & rotated_bit) != 0; }
    // Each block begins with a mask of its non-zero values, and only these are in the planes; or the mask says that all
    // are.
    [[nodiscard]] constexpr bool masked() const noexcept { return (bits & masked_bit) != 0; }
    // This library can read it.
    [[nodiscard]] constexpr bool known() const noexcept {
        std::size_t const count = planes();
        bool const width = count == 1 || count == 2 || count == 4 || count == 8;
        return width && (bits & ~(plane_bits | rotated_bit | masked_bit)) == 0 && (count > 1 || !rotated());
    }

    // The same form without masks.
    [[nodiscard]] constexpr payload_form without_mask() const noexcept {
        return {static_cast<std::uint8_t>(bits & ~masked_bit)};
    }
    [[nodiscard]] friend constexpr bool operator==(payload_form, payload_form) noexcept = default;
};

}  // namespace spotter::inline SPOTTER_ABI
