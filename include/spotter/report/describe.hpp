// SPDX-License-Identifier: Apache-2.0
// Report (L5): findings, alarms and errors as sentences, and sizes in readable units.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/rule/coverage.hpp>
#include <spotter/rule/finding.hpp>

#include <string>

namespace spotter::inline SPOTTER_ABI {

// "train(70)"
[[nodiscard]] std::string describe(step_id step);

// Two lines: the finding with its place, measured value and threshold; and the remedy.
[[nodiscard]] std::string describe(finding const& it);

[[nodiscard]] std::string describe(step_alarm const& it);

[[nodiscard]] std::string describe(error const& it);

namespace detail {

// "1.5 MB"
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/report/sentence.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_COLD_BODY std::string describe(step_id step) { return detail::sentence_of<std::string>(step); }

SPOTTER_COLD_BODY std::string describe(finding const& it) { return detail::sentence_of<std::string>(it); }

SPOTTER_COLD_BODY std::string describe(step_alarm const& it) { return detail::sentence_of<std::string>(it); }

SPOTTER_COLD_BODY std::string describe(error const& it) { return detail::sentence_of<std::string>(it); }

namespace detail {

SPOTTER_COLD_BODY std::string bytes_text(std::uint64_t bytes) {
    std::string text;
    sentence_writer out{[](void* to, std::string_view piece) { static_cast<std::string*>(to)->append(piece); }, &text};
    out.bytes(bytes);
    return text;
}

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI

#endif
