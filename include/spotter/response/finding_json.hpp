// SPDX-License-Identifier: Apache-2.0
// Response (L5): a finding as one line of JSON.
#pragma once

#include <spotter/core/utf8.hpp>
#include <spotter/rule/respond.hpp>

namespace spotter::inline SPOTTER_ABI {

// The longest line of JSON.
using finding_line = text<5120>;

namespace detail {

// At most 250 bytes of a text, cut between characters; bytes that are not UTF-8 as \xff, and blanks in place of control
// characters.
[[nodiscard]] constexpr text<250> shown_in_json(std::string_view from) noexcept {
    text<250> shown;
    for (std::size_t i = 0; i < from.size();) {
        std::size_t const size = letter_size(from, i);
        bool const control = static_cast<unsigned char>(from[i]) < 0x20;
        shown_byte const byte{from[i]};
        std::string_view const letter = size == 0 ? byte.view() : control ? " " : from.substr(i, size);
        if (shown.view().size() + letter.size() > 250) { break; }
        shown << letter;
        i += size == 0 ? 1 : size;
    }
    return shown;
}

// The shortest digits that read back as the same number. NaN and infinities, which JSON lacks, become null.
void put_number(finding_line& line, double const& value) noexcept;

}  // namespace detail

// {"rule": …, "reason", "severity", "decision", "mode", "step", "tensor", "measure", "measured", "relation",
// "threshold", "others", "run", "worker", "attempt", "time", "detail", "remedy"} and a line break. Always complete JSON
// in UTF-8: texts are cut between characters at 250 bytes, so that all eight fit even if every character is escaped.
[[nodiscard]] finding_line json_of(finding const& it, finding_origin const& from = {}) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/clock.hpp>

#include <charconv>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY void put_number(finding_line& line, double const& value) noexcept {
    char digits[32];
    if (classify(value) >= number_class::pos_inf) {
        line << "null";
        return;
    }
    auto const end = std::to_chars(digits, digits + sizeof digits, value);
    line << std::string_view{digits, static_cast<std::size_t>(end.ptr - digits)};
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY finding_line json_of(finding const& it, finding_origin const& from) noexcept {
    finding_line line;
    auto const put = [&](std::string_view piece) { line << piece; };
    auto const add = [&](std::string_view key, std::string_view value) {
        line << (line.empty() ? "{\"" : ", \"") << key << "\": ";
        put_quoted(detail::shown_in_json(value).view(), put);
    };
    auto const add_number = [&](std::string_view key, double value) {
        line << ", \"" << key << "\": ";
        detail::put_number(line, value);
    };
    add("rule", it.rule);
    add("reason", it.reason);
    add("severity", name_of(it.severity));
    add("decision", name_of(it.decision));
    add("mode", name_of(it.step.mode));
    line << ", \"step\": " << it.step.index;
    add("tensor", it.tensor);
    add("measure", it.measure);
    add_number("measured", it.measured);
    add("relation", symbol_of(it.how));
    add_number("threshold", it.threshold);
    line << ", \"others\": " << it.others;
    add("run", from.run);
    line << ", \"worker\": " << it.worker << ", \"attempt\": " << from.attempt;
    add_number("time", from.time > 0 ? from.time : detail::seconds_now());
    add("detail", it.detail.view());
    add("remedy", it.remedy);
    line << "}\n";
    return line;
}

}  // namespace spotter::inline SPOTTER_ABI

#endif
