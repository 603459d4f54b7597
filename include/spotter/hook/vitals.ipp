// SPDX-License-Identifier: Apache-2.0
// The bodies of vitals.hpp.
#pragma once

#include <spotter/hook/vitals.hpp>

#include <cstddef>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY void vitals::closed(step_id step, bool healthy) noexcept {
    clock& mine = modes_[index_of(step.mode)];
    if (mine.began && step.index <= mine.last) { rewind(mine, step.index); }
    mine.began = true;
    mine.last = step.index;
    if (healthy) { return; }
    for (clock& each : modes_) {
        if (!each.began) { continue; }
        each.was_ill = true;
        each.ill = each.last;
    }
}

SPOTTER_BODY bool vitals::healthy_since(step_id step) const noexcept {
    clock const& mine = modes_[index_of(step.mode)];
    return !mine.was_ill || mine.ill < step.index;
}

SPOTTER_BODY void vitals::rewind(clock& it, std::uint64_t index) noexcept {
    if (!it.was_ill || it.ill < index) { return; }
    it.was_ill = index > 0;
    it.ill = index > 0 ? index - 1 : 0;
}

}  // namespace spotter::inline SPOTTER_ABI
