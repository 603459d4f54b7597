// SPDX-License-Identifier: Apache-2.0
// Core (L0): expressions as text, the way they are written; extended beside each kind (plan/describe.hpp).
#pragma once

#include <spotter/core/pattern.hpp>
#include <spotter/core/sentence.hpp>

namespace spotter::inline SPOTTER_ABI {

void describe(glob const& it, sentence& out) noexcept;
void describe(of_role const& it, sentence& out) noexcept;
template <std::size_t Count>
constexpr void describe(names<Count> const& it, sentence& out) noexcept {
    char const* comma = "names{";
    for (std::string_view each : it.list) {
        out << comma << each;
        comma = ", ";
    }
    out << '}';
}
template <class Ask>
constexpr void describe(by_name<Ask> const&, sentence& out) noexcept {
    out << "a function of the name";
}

template <class Left, class Right>
constexpr void describe(both_expressions<Left, Right> const& it, sentence& out) noexcept {
    out << '(';
    describe(it.left, out);
    out << " && ";
    describe(it.right, out);
    out << ')';
}
template <class Left, class Right>
constexpr void describe(either_expression<Left, Right> const& it, sentence& out) noexcept {
    out << '(';
    describe(it.left, out);
    out << " || ";
    describe(it.right, out);
    out << ')';
}
template <class Inner>
constexpr void describe(not_expression<Inner> const& it, sentence& out) noexcept {
    out << '!';
    describe(it.inner, out);
}

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
namespace spotter::inline SPOTTER_ABI {

SPOTTER_COLD_BODY void describe(glob const& it, sentence& out) noexcept { out << '"' << it.pattern << '"'; }
SPOTTER_COLD_BODY void describe(of_role const& it, sentence& out) noexcept { out << "role::" << name_of(it.wanted); }

}  // namespace spotter::inline SPOTTER_ABI
#endif
