// SPDX-License-Identifier: Apache-2.0
// Judge (L2): the state that a source of events keeps for a tensor. Hook and replay share it, so that rules see no
// difference.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/event.hpp>
#include <spotter/core/kept_text.hpp>
#include <spotter/core/refusal_words.hpp>
#include <spotter/core/result.hpp>
#include <spotter/core/slots.hpp>
#include <spotter/rule/machine.hpp>
#include <spotter/stat/distribution.hpp>

namespace spotter::inline SPOTTER_ABI {

// The values of a tensor at its last observation in one mode, kept if a rule needs the change.
struct retained_copy {
    slot_array<unsigned char> bytes{};  // the values, in order
    tensor_ref view{};                  // type and shape; points into bytes
    std::uint64_t index = 0;            // of the step, in its mode
    bool valid = false;                 // there are values to compare with
    bool lost = false;                  // the last observation had no values

    // Not valid if memory is exhausted.
    void keep(tensor_ref const& now, std::uint64_t step_index) noexcept;
};

// Computes distributions. All tensors of a source share one scratch, as large as the largest tensor (8 bytes for each
// element).
class distribution_scratch {
public:
    // False where memory is exhausted.
    [[nodiscard]] bool grow(std::uint64_t elements) noexcept { return keys_.grow(as_size(elements)); }
    // Null if memory is exhausted, or the tensor has no finite value.
    SPOTTER_WHERE_CALLED [[nodiscard]] distribution const* take(tensor_ref const& values, stats_mask wanted) noexcept;

    // The error for quantiles that were not computed.
    [[nodiscard]] error lack() const noexcept;

private:
    slot_array<std::uint64_t> keys_{};
    distribution taken_{};
    bool lacks_memory_ = false;
};

// Addresses are stable for the life of the source. Allocates at a declaration, or when a tensor grows.
struct tracked_tensor {
    kept_text name{};
    tensor_info info{};       // current; its texts are views of `name`
    bool declared = false;    // to rules and sink, at the first observation
    bool role_given = false;  // by the user: no guess replaces it

    std::uint64_t rules = 0;                  // bit i: rule i watches it
    stats_mask all_needs = stats_mask::none;  // the union of the rules' needs:
    slot_array<stats_mask> needs_of_rule{};   // by rule
    int unit_axis = default_axis;             // along which units are counted
    slot_array<std::uint32_t> units{};        // scratch of the unit-activity feature: active, then finite
    slot_array<retained_copy> previous{};     // one for each mode, if a rule needs the change

    std::uint64_t cached_due = 0;                 // the collections that `cached_wanted` is for
    stats_mask cached_wanted = stats_mask::none;  // the union of their terms
    bool as_number = false, as_values = false;    // whether that is a number, or only the values
    bool lacks_memory = false;                    // for something that rules or the plan need
    refusal_words refused{};                      // the reason of its last refusal
    std::uint64_t times_refused = 0;              // number of refused observations

    // Asks the rules in `judges` what they need of it. False if a rule needs units along another axis than an earlier
    // rule; that rule does not get the tensor.
    template <class Judges>
    bool declare_to(Judges& judges) {
        bool agreed = true;
        rules = 0;
        all_needs = stats_mask::none;
        cached_due = 0;
        as_number = as_values = false;
        tensor_needs joined;
        if (!needs_of_rule.grow(64)) {
            lacks_memory = true;
            return agreed;
        }
        judges.declare(info, [&](std::size_t i, tensor_needs needs) {
            if (!joined.agrees(needs, info)) {
                agreed = false;
                needs.mask = stats_mask::none;
            }
            needs_of_rule[i] = needs.mask;
            rules |= std::uint64_t{any(needs.mask)} << i;
            joined.join(needs);
        });
        all_needs = joined.mask;
        unit_axis = joined.unit_axis;
        keep_copies(all_needs);
        return agreed;
    }
    void keep_copies(stats_mask wanted);  // keeps values if the change is wanted
    // Takes the role that the user gives first. If that changes it, the next observation declares the tensor again.
    void give_role(spotter::role const* what, flag flags) noexcept {
        if (!role_given && (what != nullptr || flags != flag::none)) { take_role(what, flags); }
    }
    // Likewise, replacing an earlier role.
    void take_role(spotter::role const* what, flag flags) noexcept;
    // Caches that the collections `due` want `wanted`.
    void want(std::uint64_t due, stats_mask wanted) noexcept;
    // The error for what is not judged or recorded for lack of memory.
    [[nodiscard]] error lack() const noexcept;

    // The union of what these rules need.
    [[nodiscard]] stats_mask needs_of(std::uint64_t set) const noexcept;

    // Adds the change since the previous observation in this mode, and keeps these values.
    SPOTTER_WHERE_CALLED void compare(tensor_ref const& values, step_id step, summary& stats) noexcept;
    // Keeps an observation whose change is known. Without its values the next one cannot be compared.
    void follow(tensor_ref const& values, step_id step) noexcept;
    // The last observation in this mode had no values to keep.
    [[nodiscard]] bool lost(mode which) const noexcept { return previous.size() > 0 && previous[index_of(which)].lost; }

    // Counts the active elements of each unit, or of the units that rules judge (unit_sample), in this tensor's
    // scratch. Empty if memory is exhausted.
    SPOTTER_WHERE_CALLED [[nodiscard]] unit_activity count_units(tensor_ref const& values,
                                                                 bool of_all = false) noexcept;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/guard.hpp>
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
#endif
