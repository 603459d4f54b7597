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
#include <spotter/export/text.ipp>
#endif
