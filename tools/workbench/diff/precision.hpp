// SPDX-License-Identifier: Apache-2.0
// Workbench, diff: numbers of one type as numbers of a less precise one, counted in its units in the last place.
#pragma once

#include <spotter/core/tensor_ref.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// A binary float format by its two numbers.
struct float_precision {
    int mantissa_bits = 52;         // stored ones
    int smallest_exponent = -1022;  // of a normal number
};

// Of an integer type that of double, in which integers are compared.
[[nodiscard]] constexpr float_precision precision_of(dtype type) noexcept {
    switch (type) {
        case dtype::f16:
            return {10, -14};
        case dtype::bf16:
            return {7, -126};
        case dtype::f32:
        case dtype::c64:
            return {23, -126};
        case dtype::f8_e4m3:
            return {3, -6};
        case dtype::f8_e5m2:
            return {2, -14};
        default:
            return {};
    }
}
[[nodiscard]] constexpr float_precision lower_precision(float_precision a, float_precision b) noexcept {
    return a.mantissa_bits < b.mantissa_bits ? a : b;
}

// The place of the nearest number of that format among all its numbers, counted from zero; 0 of what is not finite.
// Beyond the format's largest number it counts on.
[[nodiscard]] std::int64_t key_in(float_precision format, double value) noexcept;

template <class Value>
[[nodiscard]] inline double as_double(Value const& value) noexcept {
    if constexpr (requires { float_bits_of(value); }) {
        return static_cast<double>(__builtin_bit_cast(float, float_bits_of(value)));
    } else {
        return static_cast<double>(value);
    }
}
void copy_as_doubles(tensor_ref const& from, std::size_t first, std::size_t count, double* into);

}  // namespace spotter::inline SPOTTER_ABI::detail
