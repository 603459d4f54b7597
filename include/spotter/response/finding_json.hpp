// SPDX-License-Identifier: Apache-2.0
// Response (L5): a finding as one line of JSON.
#pragma once

#include <spotter/core/utf8.hpp>
#include <spotter/rule/respond.hpp>

namespace spotter::inline SPOTTER_ABI {

// A line of JSON, at its longest.
using finding_line = text<5120>;

namespace detail {

// As much of a text as 250 bytes hold of whole letters; what is no UTF-8 as \xff, and blanks in place of control
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

// The shortest that reads back as the same number; JSON has no NaN and no infinity, which become null.
void put_number(finding_line& line, double const& value) noexcept;

}  // namespace detail

// {"rule": …, "reason", "severity", "decision", "mode", "step", "tensor", "measure", "measured", "relation",
// "threshold", "others", "run", "worker", "attempt", "time", "detail", "remedy"} and a line break. Always whole JSON,
// and UTF-8: a text is cut where a letter begins, at 250 bytes, so that eight of them fit, escaped throughout.
[[nodiscard]] finding_line json_of(finding const& it, finding_origin const& from = {}) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/response/finding_json.ipp>
#endif
