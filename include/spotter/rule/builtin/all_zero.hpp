// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a tensor with only zeros. docs/rules.md#all_zero
#pragma once

#include <spotter/rule/builtin/judging.hpp>

namespace spotter::inline SPOTTER_ABI {

// Warning when the share of zeros (+0 and -0, of all elements) is at least `threshold` in `patience` observations in a
// row. Empty tensors are not judged. Train steps only.
struct all_zero {
    using kind = rule_kind;
    static constexpr std::string_view name = "all_zero";
    static constexpr std::string_view remedy =
        "Check the bias and learning rate of the named layer; try a leaky activation.";
    static constexpr mode judged_in = mode::train;

    enum condition : std::uint8_t { from_the_start = 1, died };  // never active before; active before

    selector select = &select::weights_and_activations;  // AWS names no default
    double threshold = 1.0;                              // fraction; AWS AllZero: 100 %
    std::uint64_t patience = 3;                          // observations

    [[nodiscard]] static constexpr all_zero sagemaker_defaults() noexcept { return {.patience = 1}; }

    static constexpr stats_mask watched = stats_mask::zeros;
    struct kept {                 // of one tensor
        bool was_active = false;  // some value was not zero
    };
    struct zeros : judged_value {  // the share of zeros
        bool were_active = false;  // kept::was_active

        // What died in training is reported before what was zero from the start.
        [[nodiscard]] constexpr bool outranks(zeros const& first) const noexcept {
            return were_active && !first.were_active;
        }
    };
    [[nodiscard]] constexpr zeros judge(kept& mine, observation const& it) const noexcept {
        measurement const share = detail::zeros_among_all(it.stats);
        bool const is_zero = share.value >= threshold;
        mine.was_active = mine.was_active || (share.known && !is_zero);
        return {judged_value{share, is_zero}, mine.was_active};
    }
    [[nodiscard]] constexpr finding tell(violation const& who, zeros const& first) const noexcept {
        return first.were_active ? who.as_finding({"all values became zero", died}, "zero_fraction",
                                                  relation::greater_equal, threshold)
                                 : who.as_finding({"all values are zero", from_the_start}, "zero_fraction",
                                                  relation::greater_equal, threshold);
    }
};

}  // namespace spotter::inline SPOTTER_ABI
