// SPDX-License-Identifier: Apache-2.0
// expect: no match for [^ ]*operator[|]|invalid operands to binary expression
#include <spotter/plan/policy.hpp>
#include <spotter/rule/adapt.hpp>
#include <spotter/rule/quantify.hpp>

#ifdef SPOTTER_CONTROL
constexpr auto patient = spotter::any("*", spotter::l2 > 1e3) | spotter::for_steps{3};
#else
constexpr auto patient = spotter::every{10} | spotter::for_steps{3};
#endif
