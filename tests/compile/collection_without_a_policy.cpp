// SPDX-License-Identifier: Apache-2.0
// expect at once: a policy is missing
#include <spotter/plan/plan.hpp>

#ifdef SPOTTER_CONTROL
constexpr spotter::collection gradients{"gradients", "grad/*", spotter::always{}, spotter::payload};
#else
constexpr spotter::collection gradients{"gradients", "grad/*", spotter::payload};
#endif
