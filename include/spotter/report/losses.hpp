// SPDX-License-Identifier: Apache-2.0
// Report (L5): the missing parts of a record, as a sentence.
#pragma once

#include <spotter/trial/losses.hpp>

#include <string>

namespace spotter::inline SPOTTER_ABI {

// "497 closed steps are lost; 2 places are damaged (88 B)"; empty where nothing is missing.
[[nodiscard]] std::string describe(run_losses const& it);

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/report/describe.hpp>

#include <fmt/format.h>
#include <utility>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY std::string describe(run_losses const& it) {
    std::string text;
    auto const add = [&](std::uint64_t count, std::string_view one, std::string_view more, std::string const& rest) {
        if (count == 0) { return; }
        text += fmt::format("{}{} {}{}", text.empty() ? "" : "; ", count, count == 1 ? one : more, rest);
    };
    add(it.steps, "closed step is lost", "closed steps are lost", "");
    add(it.places, "place is damaged", "places are damaged",
        it.bytes > 0 ? fmt::format(" ({})", detail::bytes_text(it.bytes)) : std::string{});
    std::uint64_t gone = 0;
    bool remembered = false;
    for (lost_end const& each : it.ends) { gone += each.bytes, remembered = remembered || each.remembered; }
    add(it.ends.size(), "segment lacks its end", "segments lack their ends",
        fmt::format(" ({} at least{})", detail::bytes_text(gone), remembered ? ", as the file `lost` says" : ""));
    std::string const recording = " while it was recorded";
    add(it.dropped, "observation was dropped", "observations were dropped", recording);
    add(it.thinned, "observation lost its values", "observations lost their values", recording);
    add(it.closes, "close was dropped", "closes were dropped", recording);
    if (it.trouble) {
        text +=
            fmt::format("{}the folder could not be looked at: {}", text.empty() ? "" : "; ", it.trouble.what.view());
    }
    return text;
}

}  // namespace spotter::inline SPOTTER_ABI

#endif
