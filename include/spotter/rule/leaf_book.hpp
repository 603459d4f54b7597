// SPDX-License-Identifier: Apache-2.0
// Rule (L2): what a rule needs of a tensor, and the bookkeeping that is the same for every rule's machine: which
// tensors it watches, and its coverage.
#pragma once

#include <spotter/core/event.hpp>
#include <spotter/core/slots.hpp>
#include <spotter/rule/coverage.hpp>
#include <spotter/rule/finding.hpp>
#include <spotter/stat/unit_axis.hpp>

#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// What a rule needs of a tensor: the terms, and the axis along which units are counted where the terms have
// unit_activity.
struct tensor_needs {
    stats_mask mask = stats_mask::none;  // none: the tensor is not watched
    int unit_axis = default_axis;        // only with stats_mask::unit_activity
    bool lacks_memory = false;           // a rule needs more of the tensor, had no memory for it and does not judge it

    // Whether both needs can be met together: units are counted along one axis only.
    [[nodiscard]] constexpr bool agrees(tensor_needs const& other, tensor_info const& tensor) const noexcept {
        int const batch = batch_axis_of(tensor.flags);
        return !has(mask & other.mask, stats_mask::unit_activity) ||
               unit_axis_of(tensor.shape, unit_axis, batch) == unit_axis_of(tensor.shape, other.unit_axis, batch);
    }
    // The union of both. The first that counts units decides on the axis.
    constexpr void join(tensor_needs const& other) noexcept {
        if (has(other.mask, stats_mask::unit_activity) && !has(mask, stats_mask::unit_activity)) {
            unit_axis = other.unit_axis;
        }
        mask |= other.mask;
        lacks_memory = lacks_memory || other.lacks_memory;
    }
    // Needs nothing, for lack of memory.
    [[nodiscard]] static constexpr tensor_needs without_memory() noexcept {
        tensor_needs none;
        none.lacks_memory = true;
        return none;
    }
};

namespace detail {

// The bookkeeping of a leaf's machine besides the rule and its state. It does not depend on the rule's type, so it is
// compiled once for all.
class leaf_book {
public:
    // Marks of a tensor: the rule judges it; it reads its features.
    static constexpr std::uint8_t is_judged = 1, by_feature = 2;
    static constexpr std::string_view no_memory = "no memory for all that it judges";

    // Finds room for the tensor. False where nothing more is to be done: then `needs` is the answer.
    [[nodiscard]] SPOTTER_COLD constexpr bool admit(tensor_info const& tensor, tensor_needs& needs) noexcept {
        if (has(needs.mask, stats_mask::feature)) { needs.mask |= stats_mask::shape; }  // so a record shows the tensor
        if (!any(needs.mask) && !watched_.holds(tensor.id)) { return false; }
        bool const room = watched_.grow(tensor.id + std::size_t{1});
        if (!room) { needs = lack(); }
        return room;
    }
    // Enters a tensor that was admitted. It may have been declared before, and may no longer be watched. `kept`: the
    // rule has memory for it.
    SPOTTER_COLD constexpr tensor_needs enter(tensor_id id, bool judged, bool kept,
                                              tensor_needs const& needs) noexcept {
        int const mark = (judged ? is_judged : 0) | (has(needs.mask, stats_mask::feature) ? by_feature : 0);
        seen_.matched += kept && judged ? 1 : 0;
        seen_.matched -= (watched_[id] & is_judged) != 0 ? 1U : 0U;
        watched_[id] = static_cast<std::uint8_t>(kept ? mark : 0);
        return kept ? needs : lack();
    }
    SPOTTER_COLD constexpr tensor_needs lack() noexcept {
        gap_ = no_memory;
        return tensor_needs::without_memory();
    }
    constexpr void fill_gap(std::string_view why) noexcept { gap_ = gap_.empty() ? why : gap_; }
    constexpr void be_flat() noexcept { flat_ = true; }

    [[nodiscard]] constexpr std::uint8_t mark_of(tensor_id id) const noexcept { return watched_[id]; }
    constexpr void met(mode where) noexcept { observed_in_[index_of(where)] = true; }
    constexpr void close(truth answer) noexcept {
        if (decided(answer)) {
            ++seen_.judged;
            seen_.fired += answer == truth::yes ? 1 : 0;
        } else if (observed_in_[0] || observed_in_[1] || observed_in_[2]) {
            ++seen_.undecided;
        }
        for (std::size_t m = 0; m < mode_count; ++m) { seen_in_[m] |= std::exchange(observed_in_[m], false); }
    }
    // Sets the step, and missing rules and remedies, of the findings from `first` on.
    SPOTTER_COLD static constexpr void sign(findings& out, std::size_t first, step_id step, rule_id id,
                                            std::string_view name, std::string_view remedy) noexcept {
        for (std::size_t i = first; i < out.size(); ++i) {
            if (out[i].rule.empty()) { out[i].rule = name, out[i].id = id; }
            if (out[i].remedy.empty()) { out[i].remedy = remedy; }
            out[i].step = step;
        }
    }
    // The coverage. `silence`: why the rule itself decided nothing.
    [[nodiscard]] SPOTTER_COLD constexpr coverage covered(std::string_view name, mode const* judged_in,
                                                          std::string_view silence,
                                                          bool short_of_memory) const noexcept {
        coverage all = seen_;
        all.rule = name;
        all.reason = all.judged > 0 ? gap_ : why_silent(judged_in, silence);
        if (all.reason.empty() && short_of_memory) { all.reason = no_memory; }
        return all;
    }

private:
    [[nodiscard]] constexpr std::string_view why_silent(mode const* judged_in,
                                                        std::string_view silence) const noexcept {
        if (seen_.matched == 0 && !gap_.empty()) { return gap_; }
        if (seen_.matched == 0) {
            return flat_ ? "matched only tensors of rank 1: give their sizes, view_of(pointer, {rows, columns})"
                         : "no tensor matched";
        }
        auto const seen_in = [&](std::size_t m) { return seen_in_[m] || observed_in_[m]; };
        if (!seen_in(0) && !seen_in(1) && !seen_in(2)) { return "matched, but never observed"; }
        constexpr std::string_view never_in[mode_count] = {"matched, but never in mode train",
                                                           "matched, but never in mode eval",
                                                           "matched, but never in mode predict"};
        if (judged_in != nullptr && !seen_in(index_of(*judged_in))) { return never_in[index_of(*judged_in)]; }
        return silence;
    }

    slot_array<std::uint8_t> watched_;  // by tensor id
    coverage seen_{};
    std::string_view gap_{};
    bool observed_in_[mode_count]{};  // a judged tensor, since the last close
    bool seen_in_[mode_count]{};      // a judged tensor, before that
    bool flat_ = false;               // a tensor was a vector; as a matrix it would be judged
};

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
