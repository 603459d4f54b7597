// SPDX-License-Identifier: Apache-2.0
// [S20]
// expect: a collection needs to know which tensors
#include <spotter/plan/collection.hpp>

#ifdef SPOTTER_CONTROL
constexpr spotter::collection weights{"weights", "*/w"};
#else
constexpr spotter::collection weights{"weights"};
#endif
