// SPDX-License-Identifier: Apache-2.0
// Eight composed rules that look at every tensor: rules.cpp measures their time, tests/instructions counts their
// instructions.
#pragma once

#include <spotter/plan/policy.hpp>
#include <spotter/rules.hpp>

namespace bench {

using namespace spotter;

inline constexpr auto rule_1 = any("*", l2 > 1e3) || any("*", nonfinite > 0);
inline constexpr auto rule_2 = all("*", mean_abs < 1e-7) | for_steps{3};
inline constexpr auto rule_3 = any("*", maximum > 1e6) && !all("*", zero_fraction > 0.5);
inline constexpr auto rule_4 = (fraction("*", zero_fraction > 0.95) > 0.5) | rearm{10};
inline constexpr auto rule_5 = any("*", stddev < 1e-9) | cooldown{10};
inline constexpr auto rule_6 = all("*", mean > 10) || any("*", minimum < -1e6);
inline constexpr auto rule_7 = any("*", l1 > 1e9) | only{during{mode::train}};
inline constexpr auto rule_8 = on(any("*", of_abs(maximum) > 1e9) | named{"huge"}, stop);

}  // namespace bench
