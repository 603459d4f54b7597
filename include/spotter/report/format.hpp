// SPDX-License-Identifier: Apache-2.0
// Report (L5): findings, alarms, errors, steps and a hook's health as arguments of fmt::print and fmt::format.
#pragma once

#include <spotter/report/health.hpp>

#include <fmt/format.h>

namespace spotter::inline SPOTTER_ABI::detail {

// For every type with a describe().
struct described : fmt::formatter<std::string> {
    template <class Value, class Context>
    auto format(Value const& it, Context& context) const {
        return fmt::formatter<std::string>::format(describe(it), context);
    }
};

}  // namespace spotter::inline SPOTTER_ABI::detail

template <>
struct fmt::formatter<spotter::finding> : spotter::detail::described {};
template <>
struct fmt::formatter<spotter::step_alarm> : spotter::detail::described {};
template <>
struct fmt::formatter<spotter::error> : spotter::detail::described {};
template <>
struct fmt::formatter<spotter::step_id> : spotter::detail::described {};
template <>
struct fmt::formatter<spotter::health_report> : spotter::detail::described {};
