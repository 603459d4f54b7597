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
    if (free != nullptr) { free->what = what, free->left = steps; }
    active_ = active_ || steps > 0;
}

SPOTTER_BODY void captures::ask(failure_list& failures, bool at_the_end) noexcept {
    if (pending_.empty()) { return; }
    at_the_end ? pending_.ask_patiently(failures) : pending_.ask(failures);
}

SPOTTER_BODY stats_mask captures::add(tracked_tensor& tensor, step_id step, stats_mask planned) const noexcept {
    stats_mask const kept = paused_ ? stats_mask::none : planned;
    return active_ ? add_captured(tensor, step, kept) : kept;
}

SPOTTER_BODY error captures::ask_for(std::string_view names, std::uint64_t steps) noexcept {
    if (pattern_fault const bad = malformed_part(glob{names}); !bad.empty()) {
        error why{errc::bad_pattern, "malformed glob "};
        why.what << bad;
        return why;
    }
    going* its = nullptr;
    for (going& each : list_) {
        bool const same = each.left > 0 && each.what.wanted == &wanted_by_name && each.names.view() == names;
        its = same || (its == nullptr && each.left == 0) ? &each : its;
    }
    if (its == nullptr) { return {errc::busy, "four captures are running: ask again when one of them is over"}; }
    if (its->names.view() != names && !its->names.assign(names)) {
        return {errc::out_of_memory, "no memory for the names"};
    }
    its->what = {&wanted_by_name, &its->names};
    its->left = steps;
    active_ = active_ || steps > 0;
    return {};
}

SPOTTER_BODY stats_mask captures::wanted_by_name(void const* names, tensor_info const& tensor, step_id) {
    return glob{static_cast<kept_text const*>(names)->view()}(tensor) ? payload : stats_mask::none;
}

SPOTTER_BODY void captures::step_closed() noexcept {
    active_ = false;
    for (going& each : list_) {
        each.left -= each.left > 0 ? 1 : 0;
        active_ = active_ || each.left > 0;
    }
}

SPOTTER_BODY SPOTTER_NOINLINE stats_mask captures::add_captured(tracked_tensor& tensor, step_id step,
                                                                stats_mask planned) const noexcept {
    stats_mask all = planned;
    for (going const& each : list_) {
        if (each.left == 0) { continue; }
        all = detail::together(all, guarded_or([&] { return each.what.wanted(each.what.plan, tensor.info, step); },
                                               [] { return stats_mask::none; }));
    }
    tensor.keep_copies(all);
    return all;
}

}  // namespace spotter::inline SPOTTER_ABI
