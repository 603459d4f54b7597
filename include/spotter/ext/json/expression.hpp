// SPDX-License-Identifier: Apache-2.0
// Ext (L6), part of ext/json.hpp: how the regular expressions of a settings file are interpreted.
#pragma once

#include <spotter/plan/dynamic_plan.hpp>
#include <spotter/plan/regex.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

[[nodiscard]] inline text_matcher const* expression_matcher() noexcept { return &matcher_of<regex>; }

}  // namespace spotter::inline SPOTTER_ABI::detail
