// SPDX-License-Identifier: Apache-2.0
// The bodies of no_memory.hpp.
#pragma once

#include <spotter/trial/no_memory.hpp>

#include <cstdlib>
#include <new>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY char const* no_memory::what() const noexcept {
    return "no memory for all that was asked of the run: ask for fewer steps or names at a time, a policy or a filter "
           "does";
}

}  // namespace spotter::inline SPOTTER_ABI

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY void say_no_memory() {
#if SPOTTER_EXCEPTIONS
    throw no_memory{};
#else
    std::abort();  // as a list of the standard library does without memory
#endif
}

SPOTTER_BODY void say_unreachable([[maybe_unused]] error const& why) {
#if SPOTTER_EXCEPTIONS
    throw failure{why};
#else
    std::abort();
#endif
}

}  // namespace spotter::inline SPOTTER_ABI::detail
