// SPDX-License-Identifier: Apache-2.0
// Core (L0): yes, no or undecided (Kleene's three-valued logic), so that missing data is neither healthy nor ill.
#pragma once

#include <spotter/core/fwd.hpp>

namespace spotter::inline SPOTTER_ABI {

// Ordered: `&&` is the minimum, `||` the maximum.
enum class truth : std::uint8_t { no = 0, undecided = 1, yes = 2 };

// One that is decided.
[[nodiscard]] constexpr truth truth_of(bool value) noexcept { return value ? truth::yes : truth::no; }
// It is yes or no.
[[nodiscard]] constexpr bool decided(truth value) noexcept { return value != truth::undecided; }

// Kleene's `and`: no where either is, undecided where one is and the other is not no.
[[nodiscard]] constexpr truth conjunction(truth a, truth b) noexcept { return a < b ? a : b; }
// Kleene's `or`.
[[nodiscard]] constexpr truth disjunction(truth a, truth b) noexcept { return a < b ? b : a; }
// Undecided stays so.
[[nodiscard]] constexpr truth negation(truth a) noexcept { return static_cast<truth>(2 - static_cast<int>(a)); }

[[nodiscard]] constexpr bool conjunction(bool a, bool b) noexcept { return a && b; }
[[nodiscard]] constexpr bool disjunction(bool a, bool b) noexcept { return a || b; }
[[nodiscard]] constexpr bool negation(bool a) noexcept { return !a; }

}  // namespace spotter::inline SPOTTER_ABI
