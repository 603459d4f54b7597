// SPDX-License-Identifier: Apache-2.0
// [S20]
// expect: a collection needs to know which tensors
#include <spotter/plan/collection.hpp>

using namespace std::string_view_literals;

#ifdef SPOTTER_CONTROL
constexpr spotter::collection weights{"weights", "*/w"};
constexpr spotter::collection same{weights};
#else
constexpr spotter::collection weights{"weights"sv};
#endif
