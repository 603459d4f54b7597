// SPDX-License-Identifier: Apache-2.0
// Report (L5): findings, alarms and errors as sentences, through fmt.
#pragma once

#include <spotter/core/plain.hpp>
#include <spotter/core/result.hpp>
#include <spotter/rule/coverage.hpp>
#include <spotter/rule/finding.hpp>

#include <fmt/format.h>

#include <iterator>
#include <string>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// As it may go to a terminal (core/plain.hpp).
[[nodiscard]] inline std::string plain_text(std::string_view letters) {
    std::string shown;
    put_plain(letters, [&](std::string_view piece) { shown += piece; });
    return shown;
}

}  // namespace detail

// "train(70)"
[[nodiscard]] inline std::string describe(step_id step) {
    return fmt::format("{}({})", name_of(step.mode), step.index);
}

// Two lines: what was found where, with the measured value against the threshold; what to do about it.
[[nodiscard]] inline std::string describe(finding const& it) {
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

[[nodiscard]] inline std::string describe(step_alarm const& it) {
    std::string lines;
    for (finding const& each : it) {
        if (!lines.empty()) { lines += '\n'; }
        lines += describe(each);
    }
    if (it.left_out() > 0) { lines += fmt::format("\nand {} further findings", it.left_out()); }
    return lines;
}

[[nodiscard]] inline std::string describe(error const& it) {
    return fmt::format("{}: {}", name_of(it.code), detail::plain_text(it.what.view()));
}

}  // namespace spotter::inline SPOTTER_ABI

template <>
struct fmt::formatter<spotter::finding> : fmt::formatter<std::string> {
    template <class Context>
    auto format(spotter::finding const& it, Context& context) const {
        return fmt::formatter<std::string>::format(spotter::describe(it), context);
    }
};
template <>
struct fmt::formatter<spotter::step_alarm> : fmt::formatter<std::string> {
    template <class Context>
    auto format(spotter::step_alarm const& it, Context& context) const {
        return fmt::formatter<std::string>::format(spotter::describe(it), context);
    }
};
template <>
struct fmt::formatter<spotter::error> : fmt::formatter<std::string> {
    template <class Context>
    auto format(spotter::error const& it, Context& context) const {
        return fmt::formatter<std::string>::format(spotter::describe(it), context);
    }
};
template <>
struct fmt::formatter<spotter::step_id> : fmt::formatter<std::string> {
    template <class Context>
    auto format(spotter::step_id const& it, Context& context) const {
        return fmt::formatter<std::string>::format(spotter::describe(it), context);
    }
};
