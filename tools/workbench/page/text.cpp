// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the bodies of text.hpp.
#include "page/text.hpp"

#include <spotter/core/bits.hpp>
#include <spotter/core/sentence.hpp>
#include <spotter/core/utf8.hpp>
#include <spotter/report/describe.hpp>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI::html {

bool reorders(std::string_view letter) noexcept {
    bool const embeds = letter >= "\xE2\x80\xAA" && letter <= "\xE2\x80\xAE";
    return embeds || (letter >= "\xE2\x81\xA6" && letter <= "\xE2\x81\xA9");
}

std::string escape(std::string_view text) {
    std::string safe;
    while (!text.empty()) {
        std::size_t size = spotter::detail::letter_size(text, 0);
        if (reorders(text.substr(0, size))) { size = 0; }
        auto const code = static_cast<unsigned char>(text.front());
        if (size == 0) {
            safe += spotter::detail::shown_byte{text.front()}.view();
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

std::string escape_lines(std::string_view text) {
    std::string safe;
    for (std::string const& each : lines_of(text)) { safe += (safe.empty() ? "" : "\n") + escape(each); }
    return safe;
}

std::string number_text(double const& value) {
    switch (classify(value)) {
        case number_class::nan:
            return "NaN";
        case number_class::pos_inf:
            return "∞";
        case number_class::neg_inf:
            return "−∞";
        default:
            break;
    }
    double const size = magnitude(value);
    if (size >= 1e4 && size < 1e7) { return fmt::format("{:.0f}", value); }
    std::string text = fmt::format("{:.4g}", value);
    // 1e9 and 1e-7, as in findings, from 1e+09 and 1e-07.
    if (std::size_t const e = text.find('e'); e != text.npos) {
        std::size_t const at = text[e + 1] == '+' ? e + 1 : e + 2;
        std::size_t const end =
            (std::min)(text.find_first_not_of('0', text[e + 1] == '+' ? e + 2 : at), text.size() - 1);
        text.erase(at, end - at);
    }
    return text;
}

std::string short_count(double count) {
    if (count < 1e4) { return fmt::format("{:.4g}", count); }
    if (count < 1e6) { return fmt::format("{:.4g}k", count / 1e3); }
    if (count < 1e9) { return fmt::format("{:.4g}M", count / 1e6); }
    return fmt::format("{:.3g}G", count / 1e9);
}

std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        std::size_t const end = text.find('\n');
        lines.emplace_back(text.substr(0, end));
        text.remove_prefix(end == text.npos ? text.size() : end + 1);
    }
    return lines;
}

std::string plural(std::uint64_t count, std::string_view what) {
    return std::string{spotter::detail::plural(count, what)};
}

std::string place_text(double place) {
    std::string text = fmt::format("{:.1f}", place);
    if (text.ends_with(".0")) { text.resize(text.size() - 2); }
    return text;
}

}  // namespace spotter::inline SPOTTER_ABI::html
