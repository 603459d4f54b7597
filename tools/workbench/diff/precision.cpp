// SPDX-License-Identifier: Apache-2.0
// Workbench, diff: the bodies of precision.hpp.
#include "diff/precision.hpp"

#include "diff/error_kernel.hpp"

#include <bit>
#include <cmath>

namespace spotter::inline SPOTTER_ABI::detail {

std::int64_t key_in(float_precision format, double value) noexcept {
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

void copy_as_doubles(tensor_ref const& from, std::size_t first, std::size_t count, double* into) {
    visit_values(from, [&](auto values) {
        if constexpr (!requires { values[0].im; }) {
            for (std::size_t i = 0; i < count; ++i) { into[i] = as_double(values[first + i]); }
        }
    });
}

}  // namespace spotter::inline SPOTTER_ABI::detail
