// SPDX-License-Identifier: Apache-2.0
// Core (L0): the one seam between the loop and a user's code (patterns, rules, visitors, responses): nothing thrown
// passes it.
#pragma once

#include <spotter/config.hpp>

#include <string_view>
#include <type_traits>

#if SPOTTER_EXCEPTIONS
#include <exception>
#endif

namespace spotter::inline SPOTTER_ABI {

// Runs `call`; false if it threw. Without exceptions there is nothing to catch. What `call` assigns to may not be read
// where it threw: an optimiser may let a function write into the object that its result is assigned to (g++ 12 does at
// -O3), and half of it is there then. Where something has to stand for the result there is `guarded_or`.
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

// What `call` returns; where it threw, what `otherwise()` returns, or `otherwise(text)` with what the exception says.
template <class Call, class Otherwise>
[[nodiscard]] SPOTTER_INLINE std::invoke_result_t<Call&> guarded_or(Call&& call,
                                                                    [[maybe_unused]] Otherwise&& otherwise) noexcept {
#if SPOTTER_EXCEPTIONS
    constexpr bool takes_text = std::is_invocable_v<Otherwise&, std::string_view>;
    try {
        return call();
    } catch (std::exception const& thrown) {
        if constexpr (takes_text) {
            return otherwise(std::string_view{thrown.what()});
        } else {
            return otherwise();
        }
    } catch (...) {
        if constexpr (takes_text) {
            return otherwise(std::string_view{});
        } else {
            return otherwise();
        }
    }
#else
    return call();
#endif
}

}  // namespace spotter::inline SPOTTER_ABI
