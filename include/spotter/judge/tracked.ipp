// SPDX-License-Identifier: Apache-2.0
// The bodies of tracked.hpp.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/guard.hpp>
#include <spotter/judge/tracked.hpp>
#include <spotter/stat/delta.hpp>
#include <spotter/stat/units.hpp>

#include <cstring>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY void retained_copy::keep(tensor_ref const& now, std::uint64_t step_index) noexcept {
    auto const size = as_size(now.bytes());
    valid = bytes.grow(size);
    if (!valid) { return; }
    if (size > 0) { std::memcpy(bytes.data(), now.values.raw, size); }
    view = now;
    view.values.raw = bytes.data();
    index = step_index;
}

SPOTTER_BODY error distribution_scratch::lack() const noexcept {
    if (!lacks_memory_) { return {}; }
    return {errc::out_of_memory, "quantiles were asked for that there was no memory for; they are not taken"};
}

SPOTTER_BODY void tracked_tensor::keep_copies(stats_mask wanted) {
    if (has(wanted, stats_mask::change) && !previous.grow(mode_count)) { lacks_memory = true; }
}

SPOTTER_BODY void tracked_tensor::take_role(spotter::role const* what, flag flags) noexcept {
    role_given = true;
    spotter::role const chosen = what != nullptr ? *what : info.role;
    if (info.role == chosen && info.flags == flags) { return; }
    info.role = chosen;
    info.flags = flags;
    if (activation_of(flags) != activation_kind::unknown) { info.activation = activation_of(flags); }
    declared = false;
}

SPOTTER_BODY void tracked_tensor::want(std::uint64_t due, stats_mask wanted) noexcept {
    cached_due = due;
    cached_wanted = wanted;
    stats_mask const computed = without(wanted, stats_mask::payload | stats_mask::shape | detail::chain_bits);
    as_values = has(wanted, stats_mask::payload) && !any(computed);
    as_number = has(wanted, stats_mask::payload) && !any(without(computed, pass_terms)) && info.shape.rank == 0;
}

SPOTTER_BODY error tracked_tensor::lack() const noexcept {
    error why;
    if (!lacks_memory) { return why; }
    why.code = errc::out_of_memory;
    why.what << '"' << name << "\" is not judged in full: no memory for its rules, its last values or its units";
    return why;
}

SPOTTER_BODY stats_mask tracked_tensor::needs_of(std::uint64_t set) const noexcept {
    if (set == 0) { return stats_mask::none; }
    if (set == rules) { return all_needs; }
    stats_mask all = stats_mask::none;
    for (std::size_t i = 0; i < needs_of_rule.size(); ++i) {
        if ((set >> i & 1) != 0) { all |= needs_of_rule[i]; }
    }
    return all;
}

SPOTTER_BODY void tracked_tensor::follow(tensor_ref const& values, step_id step) noexcept {
    if (previous.size() == 0) { return; }
    retained_copy& before = previous[index_of(step.mode)];
    before.valid = false;
    before.lost = values.absent();
    if (before.lost) { return; }
    before.keep(values, step.index);
    lacks_memory = lacks_memory || !before.valid;
}

SPOTTER_WHERE_CALLED_BODY distribution const* distribution_scratch::take(tensor_ref const& values,
                                                                         stats_mask wanted) noexcept {
    if (has(wanted, stats_mask::quantiles) && !grow(values.count)) {
        lacks_memory_ = true;
        return nullptr;
    }
    taken_ = distribution_of(values, wanted, {keys_.data(), keys_.size()});
    return taken_.has_quantiles || taken_.has_histogram ? &taken_ : nullptr;
}

SPOTTER_WHERE_CALLED_BODY void tracked_tensor::compare(tensor_ref const& values, step_id step,
                                                       summary& stats) noexcept {
    stats.has |= stats_mask::change;
    if (previous.size() == 0) { return; }
    retained_copy& before = previous[index_of(step.mode)];
    if (before.valid && compare_with_previous(values, before.view, before.index, stats, before.bytes.data())) {
        before.index = step.index;
    } else {
        before.keep(values, step.index);
        lacks_memory = lacks_memory || !before.valid;
    }
}

SPOTTER_WHERE_CALLED_BODY unit_activity tracked_tensor::count_units(tensor_ref const& values, bool of_all) noexcept {
    int const axis = unit_axis_of(values.shape, unit_axis, batch_axis_of(info.flags));
    auto const count = as_size(unit_count(values.shape, axis));
    if (!units.grow(2 * count)) {
        lacks_memory = true;
        return {};
    }
    std::uint32_t* const active = units.data();
    std::uint32_t* const finite = active + count;
    for (std::size_t i = 0; i < 2 * count; ++i) { active[i] = 0; }
    count_active(values, axis, active, finite);
    unit_sample const judged{count};
    if (of_all || judged.size() == count) { return {{active, count}, {finite, count}, axis}; }
    std::size_t const taken = judged.size();
    for (std::size_t i = 0; i < taken; ++i) { active[i] = active[judged[i]]; }
    for (std::size_t i = 0; i < taken; ++i) { active[taken + i] = finite[judged[i]]; }
    return {{active, taken}, {active + taken, taken}, axis};
}

}  // namespace spotter::inline SPOTTER_ABI
