// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): process memory that grows and is not released. docs/rules.md#memory_leak
#pragma once

#include <spotter/rule/builtin/memory_growth.hpp>

namespace spotter::inline SPOTTER_ABI {

// Warning when the memory of the process grew steadily by `increase` of its capacity or more, in each of `patience`
// windows in a row (memory_growth defines it). The first `skip` windows do not count: data is loaded and caches fill.
struct memory_leak {
    using kind = rule_kind;
    static constexpr std::string_view name = "memory_leak";
    static constexpr std::string_view remedy =
        "Look for what is kept from step to step: lists of losses or outputs, caches without an end, memory that is "
        "never freed (valgrind, heaptrack).";

    selector select = "sys/memory";
    std::uint64_t window = 20;   // samples
    std::uint64_t blocks = 10;   // of a window; 64 at most
    double increase = 0.002;     // share of the capacity
    double monotone = 0.8;       // share of pairs of blocks
    std::uint64_t skip = 1;      // windows
    std::uint64_t patience = 2;  // windows in a row

    struct kept {
        memory_growth growth;
    };
    struct scratch {
        slot_array<std::uint64_t> keys;
    };
    static constexpr stats_mask watched = stats_mask::sum | stats_mask::nonfinite;
    [[nodiscard]] constexpr bool prepare(kept& mine, scratch& own, tensor_info const&) const noexcept {
        return mine.growth.keep(limits(), own.keys);
    }
    [[nodiscard]] constexpr memory_growth::answer judge(kept& mine, scratch& own,
                                                        observation const& it) const noexcept {
        measurement const used = mean(it.stats);
        return used.known ? mine.growth.add(used.value, limits(), own.keys) : memory_growth::answer{};
    }
    [[nodiscard]] constexpr finding tell(violation const& who, memory_growth::answer const& first) const noexcept {
        finding it = who.as_finding("memory grows and does not come back", "growth over a window, of what there may be",
                                    relation::greater_equal, increase);
        if (first.left > 0) { it.detail << "full in about " << static_cast<std::uint64_t>(first.left) << " samples"; }
        return it;
    }
    [[nodiscard]] constexpr std::string_view silence() const noexcept { return "warm-up not reached: too few samples"; }

private:
    [[nodiscard]] constexpr memory_growth::limits limits() const noexcept {
        return {window, blocks, increase, monotone, skip};
    }
};

}  // namespace spotter::inline SPOTTER_ABI
