// SPDX-License-Identifier: Apache-2.0
// Report (L5): findings, alarms and errors as sentences, through fmt.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/rule/coverage.hpp>
#include <spotter/rule/finding.hpp>

#include <fmt/format.h>

#include <string>

namespace spotter::inline SPOTTER_ABI {

// "train(70)"
[[nodiscard]] std::string describe(step_id step);

// Two lines: what was found where, with the measured value against the threshold; what to do about it.
[[nodiscard]] std::string describe(finding const& it);

[[nodiscard]] std::string describe(step_alarm const& it);

[[nodiscard]] std::string describe(error const& it);

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

#if SPOTTER_BODIES
#include <spotter/report/describe.ipp>
#endif
