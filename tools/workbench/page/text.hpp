// SPDX-License-Identifier: Apache-2.0
// Workbench, page: a record's text made safe for a page, and short forms of numbers.
#pragma once

#include <spotter/workbench/page.hpp>

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace spotter::inline SPOTTER_ABI::html {

// Characters that reorder the text around them (U+202A to U+202E, U+2066 to U+2069): a name must not change how a line
// reads.
[[nodiscard]] bool reorders(std::string_view letter) noexcept;

[[nodiscard]] std::string
number_text(double const& value);  // four digits, below ten millions without an exponent; "NaN", "∞"

// "950", "12k", "1.5M": for axes. Up to four digits are unchanged.
[[nodiscard]] std::string short_count(double count);

// A share from 0 to 1: "12.5 %".
[[nodiscard]] inline std::string percent_text(double share) { return fmt::format("{:.3g} %", 100 * share); }

// The lines without line ends, including an unterminated last one.
[[nodiscard]] std::vector<std::string> lines_of(std::string_view text);

[[nodiscard]] std::string plural(std::uint64_t count, std::string_view what);  // "1 step", "2 steps"

// A coordinate in a picture: with a tenth of a unit, which is finer than a pixel.
[[nodiscard]] std::string place_text(double place);

}  // namespace spotter::inline SPOTTER_ABI::html
