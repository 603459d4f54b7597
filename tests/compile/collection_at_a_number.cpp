// SPDX-License-Identifier: Apache-2.0
// expect at once: the third of a collection is a policy
#include <spotter/plan/plan.hpp>

#ifdef SPOTTER_CONTROL
constexpr spotter::collection gradients{"gradients", "grad/*", spotter::every{10}};
#else
constexpr spotter::collection gradients{"gradients", "grad/*", 10};
#endif
