// SPDX-License-Identifier: Apache-2.0
// Rule (L2): a finding's measured value and threshold as text, with enough digits for the printed inequality to be
// true.
#pragma once

#include <spotter/core/text.hpp>
#include <spotter/rule/finding.hpp>

namespace spotter::inline SPOTTER_ABI {

// Both numbers of a finding as they are printed: with three digits each (core/text.hpp), and with more where three
// would not show which is larger: "0.57912 > 0.579", never "0.579 > 0.579". When read back, the two compare as the
// original numbers do.
struct inequality {
    text<32> measured{}, threshold{};
};
[[nodiscard]] inequality inequality_of(double measured, double threshold) noexcept;

// Writes `0.57912 > 0.579`; for a finding without a threshold only the measured value.
template <class Out>
void write_inequality(finding const& it, Out&& out) {
    if (it.how == relation::none) {
        text<32> measured;
        measured << it.measured;
        return out(measured.view());
    }
    inequality const numbers = inequality_of(it.measured, it.threshold);
    out(numbers.measured.view()), out(" "), out(symbol_of(it.how)), out(" "), out(numbers.threshold.view());
}

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/parse_number.hpp>

#include <charconv>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// With `digits` significant digits, in the form of core/text.hpp: `1.2345e25`, `5.7912e-5`.
[[nodiscard]] inline text<32> with_digits(double const& value, int digits) noexcept {
    text<32> out;
    if (digits <= 3) {
        out << value;
        return out;
    }
    char letters[40];
    auto const end = std::to_chars(letters, letters + sizeof letters, value, std::chars_format::general, digits);
    std::string_view const all{letters, static_cast<std::size_t>(end.ptr - letters)};
    std::size_t const mark = all.find('e');
    out << all.substr(0, mark);
    if (mark == all.npos) { return out; }
    std::string_view power = all.substr(mark + 1);
    out << (power.front() == '-' ? "e-" : "e");
    power.remove_prefix(1);
    while (power.size() > 1 && power.front() == '0') { power.remove_prefix(1); }
    out << power;
    return out;
}

[[nodiscard]] inline int order_of(double const& a, double const& b) noexcept { return a < b ? -1 : a > b ? 1 : 0; }

}  // namespace detail

SPOTTER_BODY inequality inequality_of(double measured, double threshold) noexcept {
    inequality out{detail::with_digits(measured, 3), detail::with_digits(threshold, 3)};
    if (!is_finite(measured) || !is_finite(threshold)) { return out; }
    int const order = detail::order_of(measured, threshold);
    for (int digits = 3; digits <= 17; ++digits) {
        out = {detail::with_digits(measured, digits), detail::with_digits(threshold, digits)};
        double left = 0, right = 0;
        bool const read = parse_number(out.measured.view(), left).ec == std::errc{} &&
                          parse_number(out.threshold.view(), right).ec == std::errc{};
        if (read && detail::order_of(left, right) == order) { break; }
    }
    return out;
}

}  // namespace spotter::inline SPOTTER_ABI

#endif
