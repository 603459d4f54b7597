// SPDX-License-Identifier: Apache-2.0
// Core (L0): parses numbers, independent of locale and standard library.
#pragma once

#include <spotter/core/fwd.hpp>

#include <charconv>
#include <string_view>
#include <type_traits>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// std::from_chars of a double by the C library's strtod, for standard libraries without it (libc++ up to 19). Parses
// the longest prefix that is a number, correctly rounded. If that overflows or rounds to 0, the result is
// std::errc::result_out_of_range and `into` is unchanged.
[[nodiscard]] std::from_chars_result parse_double(std::string_view text, double& into) noexcept;

}  // namespace detail

// std::from_chars of an integer or a double. The result is a reference, not a value: -ffast-math assumes that returned
// values are not NaN.
template <class Number>
[[nodiscard]] std::from_chars_result parse_number(std::string_view text, Number& into) noexcept {
#if !defined(__cpp_lib_to_chars)
    if constexpr (std::is_same_v<Number, double>) {
        return detail::parse_double(text, into);
    } else
#endif
    {
        return std::from_chars(text.data(), text.data() + text.size(), into);
    }
}

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/parse_number.ipp>
#endif
