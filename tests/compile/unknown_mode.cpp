// SPDX-License-Identifier: Apache-2.0
// [A05]
// expect: global[^ ]* is not a member of|no member named 'global'
#include <spotter/plan/policy.hpp>

#ifdef SPOTTER_CONTROL
constexpr spotter::during whole{spotter::mode::predict};
#else
constexpr spotter::during whole{spotter::mode::global};
#endif
