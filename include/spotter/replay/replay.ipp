// SPDX-License-Identifier: Apache-2.0
// The bodies of replay.hpp.
#pragma once

#include <spotter/replay/replay.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY void join_coverage(std::vector<coverage>& all, std::size_t place, coverage const& each) {
    if (place == all.size()) { return all.push_back(each); }
    coverage& into = all[place];
    into.matched = (std::max)(into.matched, each.matched);
    into.judged += each.judged;
    into.undecided += each.undecided;
    into.fired += each.fired;
    into.reason = each.judged == 0 && into.judged > 0 ? into.reason : each.reason;
}

}  // namespace spotter::inline SPOTTER_ABI::detail
