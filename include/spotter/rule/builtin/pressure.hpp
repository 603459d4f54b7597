// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a machine on which tasks wait for memory, disks or the processor. docs/rules.md#pressure
#pragma once

#include <spotter/rule/builtin/judging.hpp>
#include <spotter/rule/series.hpp>

namespace spotter::inline SPOTTER_ABI {

// Linux's pressure stall information: the share of the time in which at least one task waited for a resource. Warning
// when its mean over the last `window` samples is above the limit of that resource. Memory pressure means that evicted
// pages were read again or swapped in; almost none is normal. Measured for the whole machine, other programs included.
struct pressure {
    using kind = rule_kind;
    static constexpr std::string_view name = "pressure";
    static constexpr std::string_view remedy =
        "For memory: a smaller batch or cache, or more of it. For io: read ahead, or a faster disk. For cpu: fewer "
        "threads than cores, or fewer programs.";

    selector select = "sys/pressure/{cpu,memory,io}";
    double memory = 0.05;       // share of time
    double io = 0.4;            // share of time
    double cpu = 0.8;           // share of time
    std::uint64_t window = 20;  // samples

    struct kept {
        recent_values recent;
        double limit = 0;
    };
    struct above : judged_value {  // of one resource
        double limit = 0;          // of that resource: a share of time
    };
    static constexpr stats_mask watched = stats_mask::sum | stats_mask::nonfinite;
    [[nodiscard]] constexpr bool prepare(kept& mine, tensor_info const& tensor) const noexcept {
        std::string_view const of = tensor.name.substr(tensor.name.rfind('/') + 1);
        mine.limit = of == "memory" ? memory : of == "io" ? io : cpu;
        return mine.recent.keep(window);
    }
    [[nodiscard]] constexpr above judge(kept& mine, observation const& it) const noexcept {
        measurement const waited = mean(it.stats);
        if (!waited.known || !detail::fills(mine.recent, waited.value)) { return {}; }
        double const share = mine.recent.mean_of(0, mine.recent.size());
        return {judged_value{share, share > mine.limit}, mine.limit};
    }
    [[nodiscard]] constexpr finding tell(violation const& who, above const& first) const noexcept {
        return who.as_finding("tasks wait", "share of time in which some task waited", relation::greater, first.limit);
    }
    [[nodiscard]] constexpr std::string_view silence() const noexcept {
        return "warm-up not reached: fewer than `window` samples";
    }
};

}  // namespace spotter::inline SPOTTER_ABI
