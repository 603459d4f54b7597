// SPDX-License-Identifier: Apache-2.0
// Hook (L3): the one seam between the loop and a user's code (patterns, rules, visitors): nothing thrown passes it.
#pragma once

#include <spotter/config.hpp>

namespace spotter::inline SPOTTER_ABI {

// Runs `call`; false if it threw. Without exceptions there is nothing to catch.
template <class Call>
SPOTTER_INLINE bool guarded(Call&& call) noexcept {
#if SPOTTER_EXCEPTIONS
    try {
        call();
        return true;
    } catch (...) { return false; }
#else
    call();
    return true;
#endif
}

}  // namespace spotter::inline SPOTTER_ABI
