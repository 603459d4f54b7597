// SPDX-License-Identifier: Apache-2.0
// The bodies of vitals.hpp.
#pragma once

#include <spotter/core/clock.hpp>
#include <spotter/hook/vitals.hpp>

#include <bit>
#include <cstddef>

namespace spotter::inline SPOTTER_ABI {

// Address and creation time: unique within a process.
SPOTTER_BODY vitals::vitals() noexcept
    : number_{(std::bit_cast<std::uint64_t>(detail::steady_seconds()) ^ reinterpret_cast<std::uintptr_t>(this)) | 1U} {}

SPOTTER_BODY void vitals::closed(step_id step, bool healthy) noexcept {
    clock& mine = modes_[index_of(step.mode)];
    if (mine.began && step.index <= mine.last) { rewind(mine, step.index); }
    mine.began = true;
    mine.last = step.index;
    mine.close = ++closes_;
    if (healthy) { return; }
    ill_ = closes_;
    for (clock& each : modes_) {
        if (!each.began) { continue; }
        each.was_ill = true;
        each.ill = each.last;
    }
}

SPOTTER_BODY bool vitals::healthy_since(step_id step) const noexcept {
    clock const& mine = modes_[index_of(step.mode)];
    if (step.index > mine.last && mine.was_undone && mine.undone >= step.index) { return false; }
    return !mine.was_ill || mine.ill < step.index;
}

SPOTTER_BODY run_moment vitals::moment_of(step_id step) const noexcept {
    clock const& mine = modes_[index_of(step.mode)];
    if (mine.began && mine.last == step.index) { return {number_, mine.close}; }
    return {number_, step.index > mine.last || healthy_since(step) ? closes_ + 1 : ill_};
}

SPOTTER_BODY truth vitals::healthy_since(run_moment moment) const noexcept {
    if (moment.hook != number_) { return truth::undecided; }
    return ill_ < moment.close ? truth::yes : truth::no;
}

SPOTTER_BODY void vitals::rewind(clock& it, std::uint64_t index) noexcept {
    if (!it.was_ill || it.ill < index) { return; }
    if (!it.was_undone || it.undone < it.ill) { it.undone = it.ill; }
    it.was_undone = true;
    it.was_ill = index > 0;
    it.ill = index > 0 ? index - 1 : 0;
}

}  // namespace spotter::inline SPOTTER_ABI
