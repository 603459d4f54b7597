// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): what small formats of numbers cannot hold.
#pragma once

#include <spotter/core/dtype.hpp>

namespace spotter::inline SPOTTER_ABI {

// What a small format does to a number: one of at most this exponent rounds to zero, one of at least this size to no
// number.
struct precision_limits {
    bool known = false;      // the type has limits that matter here
    int underflow = 0;       // the exponent: floor(log2 |x|)
    double overflow = 0;     // the size
    bool exclusive = false;  // the size itself still rounds to the largest number

    // Not known of types that hold whatever f32 does.
    [[nodiscard]] static constexpr precision_limits of(dtype type) noexcept {
        switch (type) {
            case dtype::f16:
                return {true, -26, 65520};
            case dtype::bf16:
                return {true, -135, 0x1.FFp127};
            case dtype::f8_e4m3:  // OCP
                return {true, -11, 464, true};
            case dtype::f8_e5m2:
                return {true, -18, 61440};
            default:
                return {};
        }
    }
    // Of a number of that size.
    [[nodiscard]] constexpr bool overflows(double size) const noexcept {
        return exclusive ? size > overflow : size >= overflow;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
