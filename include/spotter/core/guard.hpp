// SPDX-License-Identifier: Apache-2.0
// Core (L0): the only boundary between the loop and user code (patterns, rules, visitors, responses): no exception
// crosses it.
#pragma once

#include <spotter/config.hpp>

#include <string_view>
#include <type_traits>

#if SPOTTER_EXCEPTIONS
#include <exception>
#endif

namespace spotter::inline SPOTTER_ABI {

// Runs `call`; false if it threw. Without exceptions there is nothing to catch. If it threw, do not read what `call`
// assigns to: an optimizer may let a function write directly into the object that its result is assigned to (g++ 12
// does at -O3), which is then half written. Use `guarded_or` where a result is needed.
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

// Returns the result of `call`; if it threw, that of `otherwise()` or of `otherwise(text)` with the exception's text.
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
