// SPDX-License-Identifier: Apache-2.0
// expect at once: the third of a collection is a policy
#include <spotter/plan/plan.hpp>
#include <spotter/rules.hpp>

#ifdef SPOTTER_CONTROL
constexpr spotter::collection gradients{"gradients", "grad/*", spotter::every{10}, spotter::payload};
#else
constexpr spotter::collection gradients{"gradients", "grad/*", spotter::non_finite{}, spotter::payload};
#endif
