// SPDX-License-Identifier: Apache-2.0
// Report (L5), for html.hpp: text of a record as it may stand in a page, and numbers in few letters.
#pragma once

#include <spotter/core/bits.hpp>
#include <spotter/report/describe.hpp>

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace spotter::inline SPOTTER_ABI::html {

// Bytes of the UTF-8 letter at the front; 0 where it is none. Letters that reorder the text around them count as none: a name must
// not make a line read as something else.
[[nodiscard]] inline std::size_t letter_size(std::string_view text) noexcept {
    auto const byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(text[i])); };
    unsigned const first = byte(0);
    std::size_t const size = first < 0x80   ? 1
                             : first < 0xC2 ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
    if (size == 0 || size > text.size()) { return 0; }
    unsigned code = size == 1 ? first : first & (0x7FU >> size);
    for (std::size_t i = 1; i < size; ++i) {
        if ((byte(i) & 0xC0U) != 0x80U) { return 0; }
        code = code << 6U | (byte(i) & 0x3FU);
    }
    bool const overlong = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
    bool const surrogate = code >= 0xD800 && code < 0xE000;
    bool const reorders = (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
    return overlong || surrogate || reorders || code > 0x10FFFF ? 0 : size;
}

// Safe in an element and in a quoted attribute.
[[nodiscard]] inline std::string escape(std::string_view text) {
    std::string safe;
    while (!text.empty()) {
        std::size_t const size = letter_size(text);
        auto const code = static_cast<unsigned char>(text.front());
        if (size == 0) {
            safe += "\xEF\xBF\xBD";  // the letter for "no letter"
        } else if (code == '&' || code == '<' || code == '>' || code == '"' || code == '\'') {
            safe += fmt::format("&#{};", code);
        } else if (code < 0x20 || code == 0x7F) {
            safe += fmt::format("\\x{:02x}", code);
        } else {
            safe += text.substr(0, size);
        }
        text.remove_prefix(size == 0 ? 1 : size);
    }
    return safe;
}

[[nodiscard]] inline std::string number_text(double const& value) {
    switch (classify(value)) {
        case number_class::nan:
            return "NaN";
        case number_class::pos_inf:
            return "∞";
        case number_class::neg_inf:
            return "−∞";
        default:
            return fmt::format("{:.4g}", value);
    }
}

// "950", "12k", "1.5M": for axes. Up to four digits stay as they are.
[[nodiscard]] inline std::string short_count(double count) {
    if (count < 1e4) { return fmt::format("{:.4g}", count); }
    if (count < 1e6) { return fmt::format("{:.4g}k", count / 1e3); }
    if (count < 1e9) { return fmt::format("{:.4g}M", count / 1e6); }
    return fmt::format("{:.3g}G", count / 1e9);
}

[[nodiscard]] inline std::string percent_text(double share) { return fmt::format("{:.3g} %", 100 * share); }

[[nodiscard]] inline std::string plural(std::uint64_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// A place in a picture: a tenth of a unit is finer than a pixel.
[[nodiscard]] inline std::string place_text(double place) {
    std::string text = fmt::format("{:.1f}", place);
    if (text.ends_with(".0")) { text.resize(text.size() - 2); }
    return text;
}

}  // namespace spotter::inline SPOTTER_ABI::html
