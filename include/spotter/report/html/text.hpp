// SPDX-License-Identifier: Apache-2.0
// Report (L5), for html.hpp: text of a record as it may stand in a page, and numbers in few letters.
#pragma once

#include <spotter/core/bits.hpp>
#include <spotter/core/utf8.hpp>
#include <spotter/report/describe.hpp>

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace spotter::inline SPOTTER_ABI::html {

// Letters that reorder the text around them (U+202A to U+202E, U+2066 to U+2069): a name must not make a line read as something else.
[[nodiscard]] inline bool reorders(std::string_view letter) noexcept {
    bool const embeds = letter >= "\xE2\x80\xAA" && letter <= "\xE2\x80\xAE";
    return embeds || (letter >= "\xE2\x81\xA6" && letter <= "\xE2\x81\xA9");
}

// Safe in an element and in a quoted attribute, of HTML and of XML.
[[nodiscard]] inline std::string escape(std::string_view text) {
    std::string safe;
    while (!text.empty()) {
        std::size_t const size = detail::letter_size(text, 0);
        auto const code = static_cast<unsigned char>(text.front());
        if (size == 0 || reorders(text.substr(0, size))) {
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
