// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a GPU that has too little to do. docs/rules.md#low_gpu_utilization
#pragma once

#include <spotter/rule/builtin/judging.hpp>
#include <spotter/rule/builtin/median.hpp>

namespace spotter::inline SPOTTER_ABI {

// For each GPU that was in use, over its last `window` samples: warning when the 95th percentile is below
// `threshold_p95` (it is never busy), else when the 5th is below `threshold_p5` (it idles repeatedly). Judges from
// `patience` samples on.
struct low_gpu_utilization {
    using kind = rule_kind;
    static constexpr std::string_view name = "low_gpu_utilization";
    static constexpr std::string_view remedy =
        "Raise the batch size, or find what the GPU waits for: data, copies, other ranks (`spotter profile`).";

    selector select = "sys/gpu_util/*";
    double threshold_p95 = 0.7;    // share of time
    double threshold_p5 = 0.1;     // share of time
    std::uint64_t window = 500;    // samples
    std::uint64_t patience = 500;  // samples before it judges
    static constexpr bool counts_patience = true;

    [[nodiscard]] static constexpr low_gpu_utilization sagemaker_defaults() noexcept { return {.patience = 1000}; }

    struct kept {
        recent_values busy;
        std::uint64_t samples = 0;
        bool used = false;
    };
    struct scratch {
        slot_array<std::uint64_t> keys;
    };
    struct low : judged_value {   // which of the two it is
        bool fluctuates = false;  // it idles repeatedly; false: it is never busy
    };
    static constexpr stats_mask watched = stats_mask::sum | stats_mask::nonfinite;
    [[nodiscard]] constexpr bool prepare(kept& mine, scratch& own, tensor_info const&) const noexcept {
        return keep_sortable(mine.busy, window, own.keys);
    }
    [[nodiscard]] constexpr low judge(kept& mine, scratch& own, observation const& it) const noexcept {
        measurement const busy = mean(it.stats);
        if (!busy.known) { return {}; }
        mine.busy.add(busy.value);
        mine.used = mine.used || busy.value > 0;
        if (++mine.samples < patience || !mine.used) { return {}; }
        double const high = rank_of(mine.busy, own.keys, 0.95);
        if (high < threshold_p95) { return {judged_value{high, true}, false}; }
        double const least = rank_of(mine.busy, own.keys, 0.05);
        return {judged_value{least, least < threshold_p5}, true};
    }
    [[nodiscard]] constexpr finding tell(violation const& who, low const& first) const noexcept {
        return first.fluctuates ? who.as_finding("the GPU idles again and again", "5th percentile of its utilisation",
                                                 relation::less, threshold_p5)
                                : who.as_finding("the GPU has too little to do", "95th percentile of its utilisation",
                                                 relation::less, threshold_p95);
    }
    [[nodiscard]] constexpr std::string_view silence() const noexcept {
        return "no GPU was at work, or warm-up not reached: `patience`";
    }
};

}  // namespace spotter::inline SPOTTER_ABI
