// SPDX-License-Identifier: Apache-2.0
// expect at once: a statistic stands in stats
#include <spotter/plan/plan.hpp>

#ifdef SPOTTER_CONTROL
constexpr spotter::collection gradients{"gradients", "grad/*", spotter::always{}, spotter::stats(spotter::l2)};
#else
constexpr spotter::collection gradients{"gradients", "grad/*", spotter::always{}, spotter::l2};
#endif
