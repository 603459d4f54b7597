// SPDX-License-Identifier: Apache-2.0
// The bodies of capture.hpp.
#pragma once

#include <spotter/hook/capture.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY void captures::capture(wish const& what, std::uint64_t steps) noexcept {
    going* free = nullptr;
    for (going& each : list_) {
        if (each.left > 0 && each.what.plan == what.plan) {
            each.left = steps;
            return;
        }
        free = free == nullptr && each.left == 0 ? &each : free;
    }
    if (free != nullptr) { *free = {what, steps}; }
    active_ = active_ || steps > 0;
}

SPOTTER_BODY void captures::ask(failure_list& failures, bool at_the_end) noexcept {
    if (pending_.empty()) { return; }
    at_the_end ? pending_.ask_patiently(failures) : pending_.ask(failures);
}

SPOTTER_BODY terms captures::add(tracked_tensor& tensor, step_id step, terms planned) const noexcept {
    return active_ ? add_captured(tensor, step, planned) : planned;
}

SPOTTER_BODY void captures::step_closed() noexcept {
    active_ = false;
    for (going& each : list_) {
        each.left -= each.left > 0 ? 1 : 0;
        active_ = active_ || each.left > 0;
    }
}

SPOTTER_BODY SPOTTER_NOINLINE terms captures::add_captured(tracked_tensor& tensor, step_id step,
                                                           terms planned) const noexcept {
    terms all = planned;
    for (going const& each : list_) {
        if (each.left == 0) { continue; }
        all = detail::together(all, guarded_or([&] { return each.what.wanted(each.what.plan, tensor.info, step); },
                                               [] { return terms::none; }));
    }
    tensor.keep_copies(all);
    return all;
}

}  // namespace spotter::inline SPOTTER_ABI
