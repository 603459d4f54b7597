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
#include <spotter/judge/tracked.ipp>
#endif
