// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): logits that are probabilities already, or log-probabilities that are not.
// docs/rules.md#output_mismatch
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/rule/builtin/judging.hpp>
#include <spotter/stat/units.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace select {

// Predictions that are flagged as logits (before a softmax) or as log-probabilities (after a log_softmax).
[[nodiscard]] constexpr bool logits_and_log_probabilities(tensor_info const& tensor) noexcept {
    return tensor.role == role::prediction && has(tensor.flags, flag::logits | flag::log_probabilities);
}

}  // namespace select

// Warning in one of two cases, for `patience` observations in a row. All values of a tensor that should be logits are
// in [0, 1] and every row sums to 1 within `tolerance`: a softmax was applied, and the loss applies another. Or a
// tensor that should be log-probabilities has a value above `tolerance`: a softmax or nothing was applied, and the loss
// falls below zero. Log-probabilities in place of logits are harmless: log_softmax does not change them. Rows with a
// non-finite value, and tensors with one column, are left out. Every mode.
struct output_mismatch {
    using kind = rule_kind;
    static constexpr std::string_view name = "output_mismatch";
    static constexpr std::string_view remedy = "Check the output layer, its activation and what the loss expects.";

    selector select = &select::logits_and_log_probabilities;
    double tolerance = 1e-3;        // of the sum of a row, and of a log-probability above 0
    std::uint64_t patience = 3;     // observations
    int class_axis = default_axis;  // axis of a row's sum; 1 for rank >= 2 (batch first)

    // The verdict on one observation.
    struct said : judged_value {
        bool logarithms = false;  // the tensor should have log-probabilities
    };
    static constexpr stats_mask watched = stats_mask::feature;
    [[nodiscard]] constexpr std::uint64_t feature_key() const noexcept { return key_of(name, class_axis); }
    // Pushes the smallest and the largest value, then the largest distance of a row's sum from 1; nothing where no row
    // can be summed.
    SPOTTER_STRICT constexpr void extract(observation const& it, tensor_ref const& values,
                                          feature& out) const noexcept {
        SPOTTER_STRICT_BODY
        int const axis = unit_axis_of(values.shape, class_axis, batch_axis_of(it.tensor.flags));
        auto const columns = as_size(unit_count(values.shape, axis));
        if (columns < 2) { return; }
        double low = 0, high = 0, gap = 0;
        bool any = false;
        for_each_row(values, axis, [&](auto const& row) SPOTTER_STRICT {
            SPOTTER_STRICT_BODY
            double total = 0, row_low = row(0).value, row_high = row_low;
            for (std::size_t i = 0; i < columns; ++i) {
                seen_element const x = row(i);
                if (x.kind >= number_class::pos_inf) { return; }
                total += x.value;
                row_low = x.value < row_low ? x.value : row_low;
                row_high = x.value > row_high ? x.value : row_high;
            }
            double const from_one = magnitude(total - 1);
            low = !any || row_low < low ? row_low : low;
            high = !any || row_high > high ? row_high : high;
            gap = !any || from_one > gap ? from_one : gap;
            any = true;
        });
        if (!any) { return; }
        out.push(low), out.push(high), out.push(gap);
    }
    [[nodiscard]] constexpr said judge(observation const& it, std::span<double const> made) const noexcept {
        if (made.size() < 3 || !is_finite(made[0]) || !is_finite(made[1]) || !is_finite(made[2])) { return {}; }
        if (has(it.tensor.flags, flag::log_probabilities)) { return {{made[1], made[1] > tolerance}, true}; }
        return {{made[2], made[0] >= 0 && made[1] <= 1 && made[2] <= tolerance}, false};
    }
    [[nodiscard]] constexpr finding tell(violation const& who, said const& first) const noexcept {
        if (first.logarithms) {
            return who.as_finding("log-probabilities are above zero", "largest value", relation::greater, tolerance);
        }
        return who.as_finding("logits are probabilities", "largest distance of a row's sum from 1",
                              relation::less_equal, tolerance);
    }
    [[nodiscard]] constexpr std::string_view silence() const noexcept { return "no row of two or more finite values"; }
};

}  // namespace spotter::inline SPOTTER_ABI
