// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): GPU memory that grows and is not released. docs/rules.md#gpu_memory_increase
#pragma once

#include <spotter/rule/builtin/memory_growth.hpp>

namespace spotter::inline SPOTTER_ABI {

// For each GPU: warning when its memory grew steadily by `increase` of its capacity or more, in each of `patience`
// windows in a row (memory_growth defines it). The first `skip` windows do not count: allocators fill their caches.
// `two_windows` is the criterion of Amazon SageMaker Debugger: the mean of the last `window` samples is above that of
// the `window` samples before by more than `increase`, from `min_samples` samples on. Amazon's own code compares
// windows that overlap; here they do not.
struct gpu_memory_increase {
    using kind = rule_kind;
    static constexpr std::string_view name = "gpu_memory_increase";
    static constexpr std::string_view remedy = "Look for tensors that are kept from step to step: losses summed with "
                                               "their graph, lists of outputs, caches without an end.";

    selector select = "sys/gpu_mem/*";
    std::uint64_t window = 600;     // samples
    std::uint64_t blocks = 20;      // of a window; 64 at most
    double increase = 0.02;         // share of the capacity
    double monotone = 0.8;          // share of pairs of blocks
    std::uint64_t skip = 1;         // windows
    std::uint64_t patience = 2;     // windows in a row
    bool two_windows = false;       // Amazon's criterion: the mean of a window against that of the one before
    std::uint64_t min_samples = 0;  // samples before `two_windows` judges

    [[nodiscard]] static constexpr gpu_memory_increase sagemaker_defaults() noexcept {
        return {.window = 10, .increase = 0.05, .patience = 1, .two_windows = true, .min_samples = 1000};
    }

    struct kept {
        memory_growth growth;
        recent_values recent;
        std::uint64_t samples = 0;
    };
    struct scratch {
        slot_array<std::uint64_t> keys;
    };
    static constexpr stats_mask watched = stats_mask::sum | stats_mask::nonfinite;
    [[nodiscard]] constexpr bool prepare(kept& mine, scratch& own, tensor_info const&) const noexcept {
        return two_windows ? mine.recent.keep(2 * window) : mine.growth.keep(limits(), own.keys);
    }
    [[nodiscard]] constexpr memory_growth::answer judge(kept& mine, scratch& own,
                                                        observation const& it) const noexcept {
        measurement const used = mean(it.stats);
        if (!used.known) { return {}; }
        return two_windows ? compare(mine, used.value) : mine.growth.add(used.value, limits(), own.keys);
    }
    [[nodiscard]] constexpr finding tell(violation const& who, memory_growth::answer const& first) const noexcept {
        finding it = who.as_finding("memory grows and does not come back", "growth over a window, of its capacity",
                                    two_windows ? relation::greater : relation::greater_equal, increase);
        if (first.left > 0) { it.detail << "full in about " << static_cast<std::uint64_t>(first.left) << " samples"; }
        return it;
    }
    [[nodiscard]] constexpr std::string_view silence() const noexcept { return "warm-up not reached: too few samples"; }

private:
    [[nodiscard]] constexpr memory_growth::limits limits() const noexcept {
        return {window, blocks, increase, monotone, skip};
    }
    [[nodiscard]] SPOTTER_STRICT constexpr memory_growth::answer compare(kept& mine, double used) const noexcept {
        SPOTTER_STRICT_BODY
        mine.recent.add(used);
        if (++mine.samples < min_samples || !mine.recent.full()) { return {}; }
        std::size_t const half = mine.recent.size() / 2;
        double const grown = mine.recent.mean_of(half, 2 * half) - mine.recent.mean_of(0, half);
        return {judged_value{grown, grown > increase}, 0};
    }
};

}  // namespace spotter::inline SPOTTER_ABI
