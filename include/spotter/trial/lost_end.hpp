// SPDX-License-Identifier: Apache-2.0
// Trial (L4): the lost end of a segment, and the lines of the folder's file `lost` that record one.
#pragma once

#include <spotter/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// The end of a segment that was truncated, or a whole segment that is gone. The sidecar still shows it, or the folder's
// file `lost`: `spotter recover` writes there what a sidecar shows, before it rebuilds the sidecar.
struct lost_end {
    std::string file{};             // the segment
    std::uint32_t segment = 0;      // its number
    std::uint64_t offset = 0;       // end of the existing bytes
    std::uint64_t bytes = 0;        // lost bytes behind `offset`, at least
    std::uint64_t end_ordinal = 0;  // the ordinal of the next close behind them
    bool remembered = false;        // from the file `lost`
};

namespace detail {

// A line of the file `lost`: "000003.spot 4096 81920 500 1f0c...": segment, remaining size, lost bytes, next ordinal,
// and the run's id, so that the line does not apply to a run that replaces this one.
[[nodiscard]] std::string lost_line(lost_end const& it, std::uint64_t run_id);
// Parses a line; false if it is malformed. Sets everything but `file`.
[[nodiscard]] bool read_lost_line(std::string_view line, lost_end& it, std::uint64_t& run_id);

// Calls take(lost_end, run_id) for each line of the file's text.
template <class Take>
void each_lost_line(std::string_view text, Take&& take) {
    constexpr std::size_t most = std::size_t{1} << 20U;  // a limit: any process may write this file
    text = text.substr(0, most);
    while (!text.empty()) {
        std::size_t const end = text.find('\n');
        std::string_view const line = text.substr(0, end);
        lost_end it{};
        std::uint64_t run_id = 0;
        if (read_lost_line(line, it, run_id)) { take(it, run_id); }
        text.remove_prefix(end == text.npos ? text.size() : end + 1);
    }
}

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/format/names.hpp>

#include <algorithm>
#include <charconv>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY std::string lost_line(lost_end const& it, std::uint64_t run_id) {
    std::string line{std::string_view{it.file}.substr(it.file.rfind('/') + 1)};
    char digits[24];
    auto const put = [&](std::uint64_t value, int base) {
        auto const made = std::to_chars(digits, digits + sizeof digits, value, base);
        line += ' ' + std::string{digits, made.ptr};
    };
    put(it.offset, 10), put(it.bytes, 10), put(it.end_ordinal, 10), put(run_id, 16);
    return line + '\n';
}

SPOTTER_BODY bool read_lost_line(std::string_view line, lost_end& it, std::uint64_t& run_id) {
    auto const number = [&](std::uint64_t& into, int base) {
        auto const read = std::from_chars(line.data(), line.data() + line.size(), into, base);
        bool const good = read.ec == std::errc{} && (read.ptr == line.data() + line.size() || *read.ptr == ' ');
        line.remove_prefix(static_cast<std::size_t>(read.ptr - line.data()));
        if (!line.empty()) { line.remove_prefix(1); }
        return good;
    };
    std::size_t const name = (std::min)(line.find(' '), line.size());
    std::int64_t const segment = segment_number(line.substr(0, name), layout::data_suffix);
    if (segment < 0) { return false; }
    it.segment = static_cast<std::uint32_t>(segment);
    line.remove_prefix((std::min)(line.size(), name + 1));
    return number(it.offset, 10) && number(it.bytes, 10) && number(it.end_ordinal, 10) && number(run_id, 16);
}

}  // namespace spotter::inline SPOTTER_ABI::detail

#endif
