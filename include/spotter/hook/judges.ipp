// SPDX-License-Identifier: Apache-2.0
// The bodies of judges.hpp.
#pragma once

#include <spotter/hook/judges.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY error malformed_plan(pattern_fault const& bad) noexcept {
    error why{errc::bad_pattern, ""};
    why.what << bad << " is a malformed pattern of the plan; the plan is not applied, rules and scalars go on";
    return why;
}

}  // namespace spotter::inline SPOTTER_ABI::detail
