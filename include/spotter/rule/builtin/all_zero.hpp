// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a tensor that is nothing but zeros. docs/rules.md#all_zero
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/streaks.hpp>
#include <spotter/stat/statistic.hpp>

namespace spotter::inline SPOTTER_ABI {

// Warning when the share of zeros (+0 and -0, of all elements) is at least `threshold` for `patience` observations in a row.
// An empty tensor is not judged. Train steps only.
struct all_zero {
    using kind = rule_kind;
    static constexpr std::string_view name = "all_zero";
    static constexpr std::string_view remedy =
        "Check the bias and learning rate of the named layer; try a leaky activation.";
    static constexpr mode judged_in = mode::train;

    selector select = &select::weights_and_activations;  // AWS names no default
    double threshold = 1.0;                              // fraction; AWS AllZero: 100 %
    std::uint64_t patience = 3;                          // observations

    [[nodiscard]] static constexpr all_zero sagemaker_defaults() noexcept { return {.patience = 1}; }

    struct state {
        streaks zero;
        close_answer answer;
    };

    [[nodiscard]] constexpr terms needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? terms::zeros : terms::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        return seen.zero.declare(tensor);
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        if (it.step.mode != mode::train) { return; }
        measurement const share = detail::zeros_among_all(it.stats);
        truth const zero = share.known ? truth_of(share.value >= threshold) : truth::undecided;
        seen.answer.judged = seen.answer.judged || share.known;
        if (seen.zero.count(it, zero) >= patience && zero == truth::yes) { seen.answer.found.blame(it, share.value); }
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        seen.zero.next_close();
        culprit found;
        truth const answer = seen.answer.take(found);
        if (answer == truth::yes) {
            finding it = found.as_finding("zero_fraction", relation::greater_equal, threshold, severity::warning);
            it.reason = "all values are zero";
            out.push(it);
        }
        return answer;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
