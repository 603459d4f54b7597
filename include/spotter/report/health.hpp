// SPDX-License-Identifier: Apache-2.0
// Report (L5): how the watching itself went, as text: what was seen, stored, dropped and refused, and the first failure.
#pragma once

#include <spotter/hook/health.hpp>
#include <spotter/report/bytes.hpp>
#include <spotter/report/describe.hpp>

namespace spotter::inline SPOTTER_ABI {

// Of hook.health(). One line, and a second where something failed.
[[nodiscard]] inline std::string describe(health_report const& it) {
    std::string lines =
        fmt::format("{}: {} steps, {} observations; stored {} in {}, dropped {}",
                    !it.good() ? "in trouble"
                    : it.off   ? "off"
                    : it.dry   ? "dry, nothing is recorded"
                               : "recording well",
                    it.steps, it.observed, it.sink.stored, detail::bytes_text(it.sink.bytes), it.sink.dropped);
    if (it.sink.thinned > 0) { lines += fmt::format(", {} without their values", it.sink.thinned); }
    if (it.refused > 0) { lines += fmt::format(", refused {}", it.refused); }
    lines +=
        fmt::format("; {} declarations, {} in the ring at most", it.declared, detail::bytes_text(it.sink.ring_peak));
    if (it.first) { lines += fmt::format("\n    {}", describe(it.first)); }
    return lines;
}

}  // namespace spotter::inline SPOTTER_ABI

template <>
struct fmt::formatter<spotter::health_report> : fmt::formatter<std::string> {
    template <class Context>
    auto format(spotter::health_report const& it, Context& context) const {
        return fmt::formatter<std::string>::format(spotter::describe(it), context);
    }
};
