// SPDX-License-Identifier: Apache-2.0
// expect: fallback
#include <spotter/plan/defaults.hpp>

#ifdef SPOTTER_CONTROL
constexpr spotter::plan keep{spotter::fallback{.when = spotter::every{500}}, spotter::defaults::losses};
#else
constexpr spotter::plan keep{spotter::defaults::losses, spotter::fallback{.when = spotter::every{500}}};
#endif
