// SPDX-License-Identifier: Apache-2.0
// Export (L5): names and numbers in the form of other formats.
#pragma once

#include <spotter/config.hpp>

#include <string>

namespace spotter::inline SPOTTER_ABI {

// The same text, with bytes that are not UTF-8 as \xff (put_utf8). Every writer of a format passes its names and texts
// through this.
[[nodiscard]] std::string utf8_text(std::string_view from);

// The shortest digits that read back as the same double; for NaN and infinities the given words.
[[nodiscard]] std::string number_text(double const& value, std::string_view nan = "nan", std::string_view inf = "inf",
                                      std::string_view minus_inf = "-inf");

// A quoted JSON string.
[[nodiscard]] std::string json_text(std::string_view from);
// JSON has no NaN and no infinity: these become the texts "nan", "inf" and "-inf".
[[nodiscard]] std::string json_number(double const& value);

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/bits.hpp>
#include <spotter/core/utf8.hpp>

#include <charconv>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY std::string utf8_text(std::string_view from) {
    std::string text;
    text.reserve(from.size());
    put_utf8(from, [&](std::string_view piece) { text += piece; });
    return text;
}

SPOTTER_BODY std::string number_text(double const& value, std::string_view nan, std::string_view inf,
                                     std::string_view minus_inf) {
    switch (classify(value)) {
        case number_class::nan:
            return std::string{nan};
        case number_class::pos_inf:
            return std::string{inf};
        case number_class::neg_inf:
            return std::string{minus_inf};
        default:
            break;
    }
    char digits[32];
    std::to_chars_result const end = std::to_chars(digits, digits + sizeof digits, value);
    return {digits, end.ptr};
}

SPOTTER_BODY std::string json_text(std::string_view from) {
    std::string quoted;
    put_quoted(utf8_text(from), [&](std::string_view piece) { quoted += piece; });
    return quoted;
}

SPOTTER_BODY std::string json_number(double const& value) {
    return number_text(value, R"("nan")", R"("inf")", R"("-inf")");
}

}  // namespace spotter::inline SPOTTER_ABI

#endif
