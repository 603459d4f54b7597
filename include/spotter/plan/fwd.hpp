// SPDX-License-Identifier: Apache-2.0
// Forward declarations of plan (L2).
#pragma once

#include <spotter/stat/fwd.hpp>

namespace spotter::inline SPOTTER_ABI {

class dynamic_plan;
struct always;
struct before;
struct between;
struct during;
struct every;
struct from;
struct never;
struct policy_kind;
class run_choices;

template <class Pattern, class Policy>
struct collection;
template <class... Collections>
struct plan;

}  // namespace spotter::inline SPOTTER_ABI
