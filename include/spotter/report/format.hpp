// SPDX-License-Identifier: Apache-2.0
// Report (L5): findings, alarms, errors, steps and a hook's health as arguments of fmt::print and fmt::format.
#pragma once

#include <spotter/report/health.hpp>

#include <fmt/format.h>

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
template <>
struct fmt::formatter<spotter::health_report> : fmt::formatter<std::string> {
    template <class Context>
    auto format(spotter::health_report const& it, Context& context) const {
        return fmt::formatter<std::string>::format(spotter::describe(it), context);
    }
};
