// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): the limits of small number formats.
#pragma once

#include <spotter/core/dtype.hpp>

namespace spotter::inline SPOTTER_ABI {

// The limits of a small format: a number with at most the exponent `underflow` rounds to zero; one of at least the size
// `overflow` becomes infinite or NaN.
struct precision_limits {
    bool known = false;      // the type has limits that matter here
    int underflow = 0;       // an exponent: floor(log2 |x|)
    double overflow = 0;     // a size
    bool exclusive = false;  // a number of exactly that size still rounds to the largest one

    // Unknown for types with at least the range of f32.
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
    // Whether a number of that size overflows.
    [[nodiscard]] constexpr bool overflows(double size) const noexcept {
        return exclusive ? size > overflow : size >= overflow;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
