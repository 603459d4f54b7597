// SPDX-License-Identifier: Apache-2.0
// Workbench, diff: numbers of one type in units in the last place of a less precise type.
#pragma once

#include <spotter/core/tensor_ref.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// The two parameters of a binary float format.
struct float_precision {
    int mantissa_bits = 52;         // stored ones
    int smallest_exponent = -1022;  // of a normal number
};

// For integer types that of double, in which integers are compared.
[[nodiscard]] constexpr float_precision precision_of(dtype type) noexcept {
    if (type == dtype::f16) { return {10, -14}; }
    if (type == dtype::bf16) { return {7, -126}; }
    if (type == dtype::f32 || type == dtype::c64) { return {23, -126}; }
    if (type == dtype::f8_e4m3) { return {3, -6}; }
    return type == dtype::f8_e5m2 ? float_precision{2, -14} : float_precision{};
}
[[nodiscard]] constexpr float_precision lower_precision(float_precision a, float_precision b) noexcept {
    return a.mantissa_bits < b.mantissa_bits ? a : b;
}

// The rank of the nearest number in that format, counted from zero; 0 for values that are not finite. Continues beyond
// the format's largest number.
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
