// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a loop that does not start. docs/rules.md#max_initialization_time
#pragma once

#include <spotter/rule/builtin/judging.hpp>

namespace spotter::inline SPOTTER_ABI {

// Warning when no step was closed for more than `threshold` seconds since the start. The time comes from a sampler of
// the machine (ext/system.hpp), because the loop itself closes no step.
struct max_initialization_time {
    using kind = rule_kind;
    static constexpr std::string_view name = "max_initialization_time";
    static constexpr std::string_view remedy =
        "Look at what comes before the first step: reading the data, waiting for other ranks, compiling, downloading.";

    selector select = "sys/initialization";  // seconds since the start, while no step was closed
    double threshold = 1200;                 // seconds

    [[nodiscard]] static constexpr max_initialization_time sagemaker_defaults() noexcept { return {}; }

    static constexpr stats_mask watched = stats_mask::sum | stats_mask::nonfinite;
    [[nodiscard]] constexpr judged_value judge(observation const& it) const noexcept {
        measurement const since = mean(it.stats);
        return {since, since.value > threshold};
    }
    [[nodiscard]] constexpr finding tell(violation const& who) const noexcept {
        return who.as_finding("no step yet", "seconds since the start", relation::greater, threshold);
    }
};

}  // namespace spotter::inline SPOTTER_ABI
