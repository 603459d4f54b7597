// SPDX-License-Identifier: Apache-2.0
// expect: a plan holds at most 64 collections
#include <spotter/plan/plan.hpp>

#include <utility>

template <std::size_t... Index>
constexpr auto many(std::index_sequence<Index...>) {
    return spotter::plan{spotter::collection{"c", "*", spotter::at{Index}}...};
}

#ifdef SPOTTER_CONTROL
constexpr auto keep = many(std::make_index_sequence<64>{});
#else
constexpr auto keep = many(std::make_index_sequence<65>{});
#endif
