// SPDX-License-Identifier: Apache-2.0
// Core (L0): a number from its text, whatever the locale and whichever standard library.
#pragma once

#include <spotter/core/fwd.hpp>

#include <charconv>
#include <string_view>
#include <type_traits>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// What std::from_chars says of a double, by the C library's strtod: for standard libraries without it (libc++ up to
// 19). The longest start of `text` that is a number, correctly rounded; std::errc::result_out_of_range where it is
// infinite or rounds to 0, with `into` as it was.
[[nodiscard]] std::from_chars_result parse_double(std::string_view text, double& into) noexcept;

}  // namespace detail

// std::from_chars of a whole number or a double. Into a reference, and never through a value: -ffast-math promises that
// those are no NaN.
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
