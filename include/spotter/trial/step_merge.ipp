// SPDX-License-Identifier: Apache-2.0
// The bodies of step_merge.hpp.
#pragma once

#include <spotter/trial/step_merge.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY void step_merge::add(closed_step const& closed) {
    if (of_several_) {
        all_.push_back({key_of(closed.time), all_.size(), closed.step});
    } else {
        take_new(closed.step);
    }
}

SPOTTER_BODY std::vector<step_id> step_merge::take() {
    std::sort(all_.begin(), all_.end(),
              [](closing const& a, closing const& b) { return a.key != b.key ? a.key < b.key : a.place < b.place; });
    for (closing const& each : all_) { take_new(each.step); }
    return std::move(found_);
}

SPOTTER_BODY void step_merge::take_new(step_id step) {
    if (known_.contains(step)) { return; }
    known_.add(step);
    found_.push_back(step);
}

}  // namespace spotter::inline SPOTTER_ABI
