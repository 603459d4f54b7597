// SPDX-License-Identifier: Apache-2.0
// Format (L1): how values are laid out before they are compressed, as the one byte of it in a row says.
#pragma once

#include <spotter/config.hpp>

#include <cstddef>
#include <cstdint>

namespace spotter::inline SPOTTER_ABI {

// The low four bits are the number of byte planes: of values of so many bytes, or 1 where they stand as they are. The
// others are of version 2 of the format.
struct payload_form {
    static constexpr std::uint8_t plane_bits = 15;   // of the number of planes
    static constexpr std::uint8_t rotated_bit = 16;  // `rotated`
    static constexpr std::uint8_t masked_bit = 32;   // `masked`

    std::uint8_t bits = 1;  // as in a row

    // How many; also the bytes of a value, as far as a form is concerned.
    [[nodiscard]] constexpr std::size_t planes() const noexcept { return bits & plane_bits; }
    // The bits of each value are turned left by one before the split: an exponent has a byte of its own, the sign is in
    // the lowest.
    [[nodiscard]] constexpr bool rotated() const noexcept { return (bits & rotated_bit) != 0; }
    // In front of each block stands a mask of its values that are not zero, and only these are in the planes; or that
    // all are.
    [[nodiscard]] constexpr bool masked() const noexcept { return (bits & masked_bit) != 0; }
    // One that this library reads.
    [[nodiscard]] constexpr bool known() const noexcept {
        std::size_t const count = planes();
        bool const width = count == 1 || count == 2 || count == 4 || count == 8;
        return width && (bits & ~(plane_bits | rotated_bit | masked_bit)) == 0 && (count > 1 || !rotated());
    }

    // The same, but that no block has a mask.
    [[nodiscard]] constexpr payload_form without_mask() const noexcept {
        return {static_cast<std::uint8_t>(bits & ~masked_bit)};
    }
    [[nodiscard]] friend constexpr bool operator==(payload_form, payload_form) noexcept = default;
};

}  // namespace spotter::inline SPOTTER_ABI
