// SPDX-License-Identifier: Apache-2.0
// Trial (L4): the error of a reader that has too little memory for a request.
#pragma once

#include <spotter/core/result.hpp>

#include <cstdlib>
#include <new>
#include <stdexcept>

namespace spotter::inline SPOTTER_ABI {

// Thrown by functions that return lists: a small record may hold very many steps. Functions that return a result give
// errc::out_of_memory instead.
class no_memory : public std::bad_alloc {
public:
    // A sentence that names a smaller request.
    [[nodiscard]] char const* what() const noexcept override {
        return "no memory for all that was asked of the run: ask for fewer steps or names at a time, a policy or a "
               "filter does";
    }
};

namespace detail {

[[noreturn]] inline void say_no_memory() {
#if SPOTTER_EXCEPTIONS
    throw no_memory{};
#else
    std::abort();  // as a list of the standard library does without memory
#endif
}
// Throws `failure` for remote data that cannot be fetched. Without exceptions this ends the program, so remote files
// are not offered there.
[[noreturn]] inline void say_unreachable([[maybe_unused]] error const& why) {
#if SPOTTER_EXCEPTIONS
    throw failure{why};
#else
    std::abort();
#endif
}
// Returns list(). `undo` reverts partial work if it throws.
template <class List, class Undo>
decltype(auto) listed(List const& list, Undo const& undo) {
#if SPOTTER_EXCEPTIONS
    try {
        return list();
    } catch (failure const&) {
        undo();
        throw;
    } catch (std::bad_alloc const&) { undo(); } catch (std::length_error const&) {
        undo();
    }
    say_no_memory();
#else
    (void)undo;
    return list();
#endif
}
template <class List>
decltype(auto) listed(List const& list) {
    return listed(list, [] {});
}
inline constexpr char asked_too_much[] =
    "no memory for what was asked of the run; a part may fit: at(step, elements{...})";
// Returns ask(), or the error of what it threw.
template <class Ask>
auto answered(Ask const& ask, char const* lack = asked_too_much) -> decltype(ask()) {
#if SPOTTER_EXCEPTIONS
    try {
        return ask();
    } catch (failure const& met) { return met.why(); } catch (std::bad_alloc const&) {
        return error{errc::out_of_memory, lack};
    } catch (std::length_error const&) { return error{errc::out_of_memory, lack}; }
#else
    (void)lack;
    return ask();
#endif
}

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
