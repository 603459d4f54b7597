// SPDX-License-Identifier: Apache-2.0
// The bodies of recorded.hpp.
#pragma once

#include <spotter/trial/recorded.hpp>
#include <spotter/trial/step_list.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY void open_step_list::meet(std::uint32_t attempt, std::uint32_t worker, track_entry const& entry) {
    if (entry.loose) { return; }
    open_step const* const last = all_.empty() ? nullptr : &all_.back();
    if (last == nullptr || last->attempt != attempt || last->ordinal != entry.ordinal || last->step != entry.step) {
        close(attempt);
        all_.push_back({entry.step, entry.ordinal, 0, attempt, worker});
    }
    ++all_.back().values;
}

SPOTTER_BODY void open_step_list::close(std::uint32_t attempt) noexcept {
    if (!all_.empty() && all_.back().attempt == attempt) { all_.pop_back(); }
}

}  // namespace spotter::inline SPOTTER_ABI
