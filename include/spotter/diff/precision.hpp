// SPDX-License-Identifier: Apache-2.0
// Diff (L6): numbers of one type as numbers of a less precise one, counted in its units in the last place.
#pragma once

#include <spotter/core/tensor_ref.hpp>
#include <spotter/diff/error_kernel.hpp>

#include <cmath>

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

// The place of the nearest number of that format among all its numbers, counted from zero; 0 of what is not finite. Beyond the format's
// largest number it counts on.
[[nodiscard]] inline std::int64_t key_in(float_precision format, double value) noexcept {
    if (!is_finite(value) || value == 0) { return 0; }
    if (format.mantissa_bits == 52) { return ordered_key(std::bit_cast<std::int64_t>(value)); }
    if (format.mantissa_bits == 23) { return ordered_key(__builtin_bit_cast(std::int32_t, static_cast<float>(value))); }
    int exponent = 0;
    double const size = std::frexp(magnitude(value), &exponent);  // in [0.5, 1)
    int const own = exponent - 1 > format.smallest_exponent ? exponent - 1 : format.smallest_exponent;
    double const units = std::nearbyint(std::ldexp(size, exponent - own + format.mantissa_bits));
    auto const place =
        static_cast<std::int64_t>(units) + (std::int64_t{own - format.smallest_exponent} << format.mantissa_bits);
    return value < 0 ? -place : place;
}

template <class Value>
[[nodiscard]] inline double as_double(Value const& value) noexcept {
    if constexpr (requires { float_bits_of(value); }) {
        return static_cast<double>(__builtin_bit_cast(float, float_bits_of(value)));
    } else {
        return static_cast<double>(value);
    }
}
inline void copy_as_doubles(tensor_ref const& from, std::size_t first, std::size_t count, double* into) {
    visit_values(from, [&](auto values) {
        if constexpr (!requires { values[0].im; }) {
            for (std::size_t i = 0; i < count; ++i) { into[i] = as_double(values[first + i]); }
        }
    });
}

}  // namespace spotter::inline SPOTTER_ABI::detail
