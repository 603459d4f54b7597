// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): ReLU units that no input activates. docs/rules.md#dead_relu
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/unit_windows.hpp>

namespace spotter::inline SPOTTER_ABI {

// Counts, for each unit, the non-zero finite outputs over a window. The window ends at the close where a unit has
// `samples` finite outputs; then the rule judges, and starts a new window. Warning when more than `threshold_layer` of
// the units were active in less than `threshold_inactivity` of their outputs. The share of zeros in the whole layer is
// no criterion: half of a healthy layer's outputs are zero. Train steps only; closes within a window are undecided.
struct dead_relu {
    using kind = rule_kind;
    static constexpr std::string_view name = "dead_relu";
    static constexpr std::string_view remedy =
        "Check the bias and learning rate of the named layer; try a leaky activation.";
    static constexpr mode judged_in = mode::train;

    selector select = &select::relu_activations;
    double threshold_inactivity = 0.01;  // fraction of a unit's outputs; AWS DeadRelu: 1 %
    double threshold_layer = 0.5;        // fraction of a layer's units; AWS: 50 %
    std::uint64_t samples = 512;         // finite outputs a unit (batch times spatial positions)
    int unit_axis = default_axis;        // 1 for rank >= 2 (batch first), 0 for rank 1

    [[nodiscard]] static constexpr dead_relu sagemaker_defaults() noexcept { return {.samples = 1}; }

    struct state {
        unit_windows windows;  // a unit's amount is the number of its active outputs
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return select(tensor) && unit_count(tensor.shape, unit_axis, batch_axis_of(tensor.flags)) > 0
                   ? stats_mask::unit_activity
                   : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        return seen.windows.declare(tensor, unit_count(tensor.shape, unit_axis, batch_axis_of(tensor.flags)));
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        if (it.step.mode == mode::train) { seen.windows.add(it, it.units); }
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        return seen.windows.close(
            samples, threshold_layer, "units never activate", "share of dead units", out,
            [&](unit_window const& layer) { return layer.share_below(threshold_inactivity, samples); });
    }
    [[nodiscard]] constexpr bool short_of_memory(state const& seen) const noexcept {
        return seen.windows.lacks_memory();
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "warm-up not reached: fewer than `samples` outputs a unit";
    }
};

}  // namespace spotter::inline SPOTTER_ABI
