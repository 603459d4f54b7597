// SPDX-License-Identifier: Apache-2.0
// expect: no match for [^ ]*operator&&|invalid operands to binary expression
#include <spotter/plan/policy.hpp>
#include <spotter/stat/predicate.hpp>

#ifdef SPOTTER_CONTROL
constexpr auto small = spotter::l2 < 1 && spotter::maximum < 2;
constexpr auto seldom = spotter::every{10} && spotter::from{5};
#else
constexpr auto mixed = spotter::l2 < 1 && spotter::every{10};
#endif
