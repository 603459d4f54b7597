// SPDX-License-Identifier: Apache-2.0
// Judge (L2): one tensor as a source of events knows it; what hook and replay share, so that rules cannot tell them
// apart.
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

// The values of a tensor at its last observation in one mode, kept where a rule wants the change.
struct retained_copy {
    slot_array<unsigned char> bytes{};  // of the values, in their order
    tensor_ref view{};                  // type and shape; points into bytes
    std::uint64_t index = 0;            // of the step in its mode
    bool valid = false;                 // there is something to compare with
    bool lost = false;                  // the last observation had no values

    // Not valid where memory is exhausted.
    void keep(tensor_ref const& now, std::uint64_t step_index) noexcept;
};

// Takes distributions; one scratch serves all tensors of a source, as large as the largest of them (8 bytes an
// element).
class distribution_scratch {
public:
    // False where memory is exhausted.
    [[nodiscard]] bool grow(std::uint64_t elements) noexcept { return keys_.grow(as_size(elements)); }
    // Null where memory is exhausted, and of a tensor without a finite value.
    SPOTTER_WHERE_CALLED [[nodiscard]] distribution const* take(tensor_ref const& values, terms wanted) noexcept;

    // Of a source whose quantiles were asked for, and not taken.
    [[nodiscard]] error lack() const noexcept;

private:
    slot_array<std::uint64_t> keys_{};
    distribution taken_{};
    bool lacks_memory_ = false;
};

// Addresses are stable for the life of the source. Memory is taken at a declaration, or when a tensor grows.
struct tracked_tensor {
    kept_text name{};
    tensor_info info{};       // as it is known now; views into `name`
    bool declared = false;    // to rules and sink; at its first observation
    bool role_given = false;  // by the user, so that no guess replaces it

    std::uint64_t rules = 0;               // bit i: rule i watches it
    terms all_needs = terms::none;         // the union of theirs:
    slot_array<terms> needs_of_rule{};     // by rule
    int unit_axis = default_axis;          // that units are counted along
    slot_array<std::uint32_t> units{};     // scratch of the unit-activity feature: active, then finite
    slot_array<retained_copy> previous{};  // one a mode, where a rule wants delta

    std::uint64_t cached_due = 0;               // collections due when `cached_wanted` was looked up
    terms cached_wanted = terms::none;          // of these collections together
    bool as_number = false, as_values = false;  // and whether that is a number, or values and nothing computed of them
    bool lacks_memory = false;                  // for what rules or the plan want of it
    refusal_words refused{};                    // why it was not taken the last time that it was not
    std::uint64_t times_refused = 0;            // observations

    // Asks the rules what they need of it; `Judges` is the list of rules at work. False where a rule wants units along
    // another axis than one before it; that rule does not get the tensor.
    template <class Judges>
    bool declare_to(Judges& judges) {
        bool agreed = true;
        rules = 0;
        all_needs = terms::none;
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
                needs.terms = terms::none;
            }
            needs_of_rule[i] = needs.terms;
            rules |= std::uint64_t{any(needs.terms)} << i;
            joined.join(needs);
        });
        all_needs = joined.terms;
        unit_axis = joined.unit_axis;
        keep_copies(all_needs);
        return agreed;
    }
    void keep_copies(terms wanted);  // begins to retain values where the change is wanted
    // As the user says, the first time; declared anew at the observation that follows, if that is news.
    void give_role(spotter::role const* what, flag flags) noexcept {
        if (!role_given && (what != nullptr || flags != flag::none)) { take_role(what, flags); }
    }
    // Likewise, whatever was said before.
    void take_role(spotter::role const* what, flag flags) noexcept;
    // The collections `due` want `wanted` of it.
    void want(std::uint64_t due, terms wanted) noexcept;
    // Judged, and recorded, without what there was no memory for.
    [[nodiscard]] error lack() const noexcept;

    // What a set of rules needs.
    [[nodiscard]] terms needs_of(std::uint64_t set) const noexcept;

    // Adds the delta against the previous observation in this mode, and retains this one.
    SPOTTER_WHERE_CALLED void compare(tensor_ref const& values, step_id step, summary& stats) noexcept;
    // Retains an observation whose delta is known; without its values what comes next has nothing to be compared with.
    void follow(tensor_ref const& values, step_id step) noexcept;
    // The last observation in this mode had no values to retain.
    [[nodiscard]] bool lost(mode which) const noexcept { return previous.size() > 0 && previous[index_of(which)].lost; }

    // Counts the active elements of each unit into this tensor's scratch, or of those that rules judge (unit_sample);
    // empty where memory is exhausted.
    SPOTTER_WHERE_CALLED [[nodiscard]] unit_activity count_units(tensor_ref const& values,
                                                                 bool of_all = false) noexcept;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/judge/tracked.ipp>
#endif
