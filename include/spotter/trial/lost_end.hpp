// SPDX-License-Identifier: Apache-2.0
// Trial (L4): the end of a segment that is gone, and the lines of the folder's file `lost`, which remember one.
#pragma once

#include <spotter/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// The end of a segment that somebody cut off, or the whole of one that is gone: its sidecar still knows, or the
// folder's file `lost`, into which `spotter recover` writes what a sidecar knew before it makes that anew.
struct lost_end {
    std::string file{};             // the segment
    std::uint32_t segment = 0;      // its number
    std::uint64_t offset = 0;       // behind the last byte that is there
    std::uint64_t bytes = 0;        // that followed it at least
    std::uint64_t end_ordinal = 0;  // of the step that closed next behind them
    bool remembered = false;        // by the file `lost`
};

namespace detail {

// A line of the file `lost`: "000003.spot 4096 81920 500 1f0c...": the segment, how long it was left, how much was
// gone, the ordinal behind it, and the run, so that a line about a run that was replaced means nothing.
[[nodiscard]] std::string lost_line(lost_end const& it, std::uint64_t run_id);
// False where it is none. Sets all but the file.
[[nodiscard]] bool read_lost_line(std::string_view line, lost_end& it, std::uint64_t& run_id);

// Calls take(lost_end, run_id) for each line of the file's text.
template <class Take>
void each_lost_line(std::string_view text, Take&& take) {
    constexpr std::size_t most = std::size_t{1} << 20U;  // of a file that anybody may write
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
#include <spotter/trial/lost_end.ipp>
#endif
