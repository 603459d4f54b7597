// SPDX-License-Identifier: Apache-2.0
// Ext (L6), part of ext/json.hpp: which expressions a settings file may use: `regex`, where exceptions are on.
#pragma once

#include <spotter/plan/dynamic_plan.hpp>
#if SPOTTER_EXCEPTIONS
#include <spotter/plan/regex.hpp>
#endif

namespace spotter::inline SPOTTER_ABI::detail {

[[nodiscard]] inline text_matcher const* expression_matcher() noexcept {
#if SPOTTER_EXCEPTIONS
    return &matcher_of<regex>;
#else
    return nullptr;
#endif
}

}  // namespace spotter::inline SPOTTER_ABI::detail
