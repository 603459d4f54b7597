// SPDX-License-Identifier: Apache-2.0
// The bodies of health.hpp.
#pragma once

#include <spotter/report/bytes.hpp>
#include <spotter/report/health.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY std::string describe(health_report const& it) {
    std::string lines =
        fmt::format("{}: {} steps, {} observations; stored {} in {}, dropped {}",
                    !it.good()                   ? "in trouble"
                    : it.off                     ? "off"
                    : it.dry                     ? "dry, nothing is recorded"
                    : !it.nothing_judged.empty() ? "recording, but nothing could be judged"
                                                 : "recording well",
                    it.steps, it.observed, it.sink.stored, detail::bytes_text(it.sink.bytes), it.sink.dropped);
    if (it.sink.thinned > 0) { lines += fmt::format(", {} without their values", it.sink.thinned); }
    if (it.refused > 0) { lines += fmt::format(", refused {}", it.refused); }
    if (it.left_open > 0) { lines += fmt::format(", {} left open", it.left_open); }
    lines +=
        fmt::format("; {} declarations, {} in the ring at most", it.declared, detail::bytes_text(it.sink.ring_peak));
    if (!it.nothing_judged.empty()) { lines += fmt::format("\n    {}", it.nothing_judged); }
    if (it.first && it.failures.empty()) { lines += fmt::format("\n    {}", describe(it.first)); }
    for (repeated_failure const& each : it.failures) {
        lines += fmt::format("\n    {}", describe(each.what));
        if (each.times > 1) { lines += fmt::format(" ({} times)", each.times); }
    }
    if (it.failures.others() > 0) { lines += fmt::format("\n    and {} of further kinds", it.failures.others()); }
    return lines;
}

}  // namespace spotter::inline SPOTTER_ABI
