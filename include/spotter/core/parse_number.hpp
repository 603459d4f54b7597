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
#include <spotter/core/bits.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace spotter::inline SPOTTER_ABI::detail {

// A decimal number in a form that strtod parses in every locale: digits without a point, and an exponent.
class decimal_digits {
public:
    // Returns the length of the number that `text` begins with; 0 if there is none.
    [[nodiscard]] std::size_t take(std::string_view text) noexcept {
        std::size_t at = text.starts_with('-') ? 1 : 0;
        if (at == 1) { letters_[size_++] = '-'; }
        std::size_t const whole = digits(text, at, false);
        bool const point = at < text.size() && text[at] == '.';
        std::size_t after = at + 1;
        std::size_t const fraction = point ? digits(text, after, true) : 0;
        if (whole + fraction == 0) { return 0; }
        at = point ? after : at;
        if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) { at = exponent(text, at); }
        return at;
    }

    [[nodiscard]] bool zero() const noexcept { return kept_ == 0; }
    [[nodiscard]] double value() noexcept {
        if (kept_ == 0) { letters_[size_++] = '0'; }
        if (cut_off_) { letters_[size_++] = '1', --exponent_; }  // dropped digits break a tie
        letters_[size_++] = 'e';
        long long const most = 100'000, exponent = exponent_ < -most ? -most : exponent_ > most ? most : exponent_;
        char* const end = std::to_chars(letters_ + size_, letters_ + sizeof letters_ - 1, exponent).ptr;
        *end = '\0';
        int const number = errno;
        double const value = std::strtod(letters_, nullptr);
        errno = number;
        return value;
    }

private:
    static constexpr std::size_t most_digits = 800;  // 768, and whether a later one is not 0, decide every double

    // Returns the number of digits; `at` is then behind the last.
    std::size_t digits(std::string_view text, std::size_t& at, bool fraction) noexcept {
        std::size_t const begin = at;
        for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
            bool const keep = (kept_ != 0 || text[at] != '0') && kept_ < most_digits;
            if (keep) {
                letters_[size_++] = text[at];
                ++kept_;
            } else {
                cut_off_ = cut_off_ || text[at] != '0';
            }
            exponent_ += (kept_ == most_digits && !keep ? 1 : 0) - (fraction ? 1 : 0);
        }
        return at - begin;
    }

    // Returns the position behind the exponent; `begin` if there is none.
    std::size_t exponent(std::string_view text, std::size_t const begin) noexcept {
        std::size_t at = begin + 1;
        bool const minus = at < text.size() && text[at] == '-';
        if (at < text.size() && (text[at] == '-' || text[at] == '+')) { ++at; }
        std::size_t const first = at;
        long long value = 0;
        for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
            if (value < (std::numeric_limits<long long>::max)() / 100) { value = value * 10 + (text[at] - '0'); }
        }
        if (at == first) { return begin; }
        exponent_ += minus ? -value : value;
        return at;
    }

    char letters_[most_digits + 32];
    std::size_t size_ = 0, kept_ = 0;
    long long exponent_ = 0;
    bool cut_off_ = false;
};

// Whether `text` begins with `prefix`, case ignored; `prefix` is in lower case.
[[nodiscard]] SPOTTER_BODY bool begins_in_any_case(std::string_view text, std::string_view prefix) noexcept {
    if (text.size() < prefix.size()) { return false; }
    for (std::size_t i = 0; i < prefix.size(); ++i) {
        if (static_cast<char>(text[i] | 0x20) != prefix[i]) { return false; }
    }
    return true;
}

// "inf", "infinity", "nan", "nan(...)", case ignored: returns the length, and sets the bits of the value.
[[nodiscard]] SPOTTER_BODY std::size_t take_named_number(std::string_view text, std::uint64_t& bits) noexcept {
    std::size_t const from = text.starts_with('-') ? 1 : 0;
    bits = f64_bits::exponent | (from == 1 ? f64_bits::sign : 0);
    if (begins_in_any_case(text.substr(from), "infinity")) { return from + 8; }
    if (begins_in_any_case(text.substr(from), "inf")) { return from + 3; }
    if (!begins_in_any_case(text.substr(from), "nan")) { return 0; }
    bits |= std::uint64_t{1} << 51U;
    std::size_t end = from + 3;
    if (end == text.size() || text[end] != '(') { return end; }
    for (std::size_t at = end + 1; at < text.size(); ++at) {
        char const lower = static_cast<char>(text[at] | 0x20);
        if (text[at] == ')') { return at + 1; }
        if (text[at] != '_' && (lower < 'a' || lower > 'z') && (text[at] < '0' || text[at] > '9')) { break; }
    }
    return end;
}

SPOTTER_BODY std::from_chars_result parse_double(std::string_view text, double& into) noexcept {
    decimal_digits number;
    if (std::size_t const size = number.take(text); size != 0) {
        char const* const end = text.data() + size;
        double const value = number.value();
        number_class const kind = classify(value);
        bool const outside = kind >= number_class::pos_inf || (kind == number_class::zero && !number.zero());
        if (outside) { return {end, std::errc::result_out_of_range}; }
        into = value;
        return {end, {}};
    }
    std::uint64_t bits = 0;
    std::size_t const size = take_named_number(text, bits);
    if (size == 0) { return {text.data(), std::errc::invalid_argument}; }
    std::memcpy(&into, &bits, sizeof into);
    return {text.data() + size, {}};
}

}  // namespace spotter::inline SPOTTER_ABI::detail
#endif
