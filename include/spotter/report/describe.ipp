// SPDX-License-Identifier: Apache-2.0
// The bodies of describe.hpp.
#pragma once

#include <spotter/core/plain.hpp>
#include <spotter/report/describe.hpp>

#include <iterator>

namespace spotter::inline SPOTTER_ABI::detail {

// As it may go to a terminal (core/plain.hpp).
[[nodiscard]] SPOTTER_BODY std::string plain_text(std::string_view letters) {
    std::string shown;
    put_plain(letters, [&](std::string_view piece) { shown += piece; });
    return shown;
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY std::string describe(step_id step) { return fmt::format("{}({})", name_of(step.mode), step.index); }

SPOTTER_BODY std::string describe(finding const& it) {
    std::string line = fmt::format("{}: {}", name_of(it.severity), detail::plain_text(it.rule));
    if (!it.reason.empty()) { line += ": " + detail::plain_text(it.reason); }
    line += fmt::format(" at {}", describe(it.step));
    if (it.worker > 0) { line += fmt::format(" in worker {}", it.worker); }
    if (!it.tensor.empty()) { line += fmt::format(", \"{}\"", detail::plain_text(it.tensor)); }
    if (!it.measure.empty()) {
        line += fmt::format(": {} {:.4g}", detail::plain_text(it.measure), it.measured);
        if (it.how != relation::none) { line += fmt::format(" {} {:.4g}", symbol_of(it.how), it.threshold); }
    }
    if (!it.detail.empty()) { line += fmt::format(" ({})", detail::plain_text(it.detail.view())); }
    if (it.others > 0) { line += fmt::format(", and {} more tensor{}", it.others, it.others == 1 ? "" : "s"); }
    if (it.decision != decision::proceed) { line += fmt::format(" [{}]", name_of(it.decision)); }
    if (!it.remedy.empty()) { line += "\n    " + detail::plain_text(it.remedy); }
    return line;
}

SPOTTER_BODY std::string describe(step_alarm const& it) {
    std::string lines;
    for (finding const& each : it) {
        if (!lines.empty()) { lines += '\n'; }
        lines += describe(each);
    }
    if (it.left_out() > 0) { lines += fmt::format("\nand {} further findings", it.left_out()); }
    return lines;
}

SPOTTER_BODY std::string describe(error const& it) {
    return fmt::format("{}: {}", name_of(it.code), detail::plain_text(it.what.view()));
}

}  // namespace spotter::inline SPOTTER_ABI
