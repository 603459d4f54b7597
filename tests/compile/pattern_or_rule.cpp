// SPDX-License-Identifier: Apache-2.0
// expect: no match for [^ ]*operator[|][|]|invalid operands to binary expression
#include <spotter/rule/quantify.hpp>
#include <spotter/rules.hpp>

#ifdef SPOTTER_CONTROL
constexpr auto bad = spotter::non_finite{} || spotter::any("*", spotter::l2 > 1e3);
#else
constexpr auto bad = spotter::non_finite{} || spotter::glob{"*"};
#endif
