// SPDX-License-Identifier: Apache-2.0
// Core (L0): yes, no or undecided (Kleene's three-valued logic): missing data is neither healthy nor unhealthy.
#pragma once

#include <spotter/core/fwd.hpp>

namespace spotter::inline SPOTTER_ABI {

// Ordered: `&&` is the minimum, `||` the maximum.
enum class truth : std::uint8_t { no = 0, undecided = 1, yes = 2 };

// Yes or no.
[[nodiscard]] constexpr truth truth_of(bool value) noexcept { return value ? truth::yes : truth::no; }
// Yes or no.
[[nodiscard]] constexpr bool decided(truth value) noexcept { return value != truth::undecided; }

// Kleene's `and`: no if either is no, otherwise undecided if either is undecided.
[[nodiscard]] constexpr truth conjunction(truth a, truth b) noexcept { return a < b ? a : b; }
// Kleene's `or`.
[[nodiscard]] constexpr truth disjunction(truth a, truth b) noexcept { return a < b ? b : a; }
// Negation; undecided stays undecided.
[[nodiscard]] constexpr truth negation(truth a) noexcept { return static_cast<truth>(2 - static_cast<int>(a)); }

[[nodiscard]] constexpr bool conjunction(bool a, bool b) noexcept { return a && b; }
[[nodiscard]] constexpr bool disjunction(bool a, bool b) noexcept { return a || b; }
[[nodiscard]] constexpr bool negation(bool a) noexcept { return !a; }

}  // namespace spotter::inline SPOTTER_ABI
