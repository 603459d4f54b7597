// SPDX-License-Identifier: Apache-2.0
// Record (L4): makes `hook{"runs/a", plan, rules...}` record to files.
#pragma once

#include <spotter/hook/hook.hpp>
#include <spotter/record/recorder.hpp>

namespace spotter::inline SPOTTER_ABI {

template <class Path, plan_like Plan, class... Arguments>
    requires std::convertible_to<Path, std::string_view>
hook(Path, Plan, Arguments...) -> hook<recorder, Plan, Arguments...>;

// Without a plan: only what the rules saw is recorded.
template <class Path, class First, class... Arguments>
    requires(std::convertible_to<Path, std::string_view> && !plan_like<First>)
hook(Path, First, Arguments...) -> hook<recorder, plan<>, First, Arguments...>;

}  // namespace spotter::inline SPOTTER_ABI
