// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): tanh and sigmoid units that stay at their limits. docs/rules.md#saturated_activation
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/unit_windows.hpp>
#include <spotter/stat/lanes.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace select {

// The inputs or outputs of a tanh or a sigmoid; a rule reads one of the two.
[[nodiscard]] constexpr bool saturating(tensor_info const& tensor) noexcept {
    return (tensor.role == role::preactivation || tensor.role == role::activation) &&
           (tensor.activation == activation_kind::tanh || tensor.activation == activation_kind::sigmoid);
}

}  // namespace select

// An input of a tanh or sigmoid is saturated at or beyond the limits of its kind. Counts, for each unit, the finite
// inputs that are not saturated, over windows as in dead_relu. A unit is saturated where those are less than
// `threshold_inactivity` of its inputs. Warning when more than `threshold_layer` of the units are. Tensors whose
// activation kind is unknown are not watched. Train steps only.
struct saturated_activation {
    using kind = rule_kind;
    static constexpr std::string_view name = "saturated_activation";
    static constexpr std::string_view remedy =
        "Reduce the scale of inputs or weights before the named layer, or normalise.";
    static constexpr mode judged_in = mode::train;

    selector select = &select::saturating;
    double tanh_min = -5, tanh_max = 5;        // of the input; the Debugger paper, Table 1
    double sigmoid_min = -5, sigmoid_max = 5;  // of the input; the same
    double threshold_inactivity = 0.01;        // fraction of a unit's inputs; AWS SaturatedActivation: 1 %
    double threshold_layer = 0.5;              // fraction of a layer's units; AWS: 50 %
    std::uint64_t samples = 512;               // finite inputs a unit (batch times spatial positions)
    bool from_output = false;                  // judge activations instead, with the limits mapped to outputs
    int unit_axis = default_axis;              // 1 for rank >= 2 (batch first), 0 for rank 1

    // AWS derives its limits from a derivative of 1e-7, which is actually reached at 16.1 and 8.75: its limits almost
    // never fire.
    [[nodiscard]] static constexpr saturated_activation sagemaker_defaults() noexcept {
        return {.tanh_min = -9.4999, .tanh_max = 9.4999, .sigmoid_min = -23, .sigmoid_max = 16.99999, .samples = 1};
    }

    struct state {
        unit_windows windows;  // a unit's amount is the number of its inputs that are not saturated
        slot_array<double> scratch;
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        bool const known = tensor.activation == activation_kind::tanh || tensor.activation == activation_kind::sigmoid;
        bool const other_side = tensor.role == (from_output ? role::preactivation : role::activation);
        return select(tensor) && known && !other_side && units_along(tensor, tensor.shape, unit_axis) >= 0
                   ? stats_mask::feature
                   : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        std::uint64_t const units = unit_count(tensor.shape, units_along(tensor, tensor.shape, unit_axis));
        return seen.windows.declare(tensor, units) && seen.scratch.grow(as_size(2 * units));
    }
    [[nodiscard]] constexpr std::uint64_t feature_key() const noexcept {
        return key_of(name, tanh_min, tanh_max, sigmoid_min, sigmoid_max, from_output, unit_axis);
    }
    constexpr void extract(state& seen, observation const& it, tensor_ref const& values, feature& out) const noexcept {
        band const open = open_band(it.tensor.activation);
        extract_units(values, units_along(it.tensor, values.shape, unit_axis), seen.scratch, out,
                      [&](seen_element const& x) SPOTTER_STRICT {
                          SPOTTER_STRICT_BODY
                          return x.value > open.low && x.value < open.high ? 1.0 : 0.0;
                      });
    }
    constexpr void observe(state& seen, observation const& it, std::span<double const> sums) const noexcept {
        if (it.step.mode == mode::train) { seen.windows.add(it, sums); }
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        return seen.windows.close(
            samples, threshold_layer, "units are saturated", "share of saturated units", out,
            [&](unit_window const& layer) { return layer.share_below(threshold_inactivity, samples); });
    }
    [[nodiscard]] constexpr bool short_of_memory(state const& seen) const noexcept {
        return seen.windows.lacks_memory();
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "warm-up not reached: fewer than `samples` inputs a unit";
    }

    // Values strictly between these are not saturated.
    struct band {
        double low = 0, high = 0;  // of the input, or of the output with `from_output`
    };
    // The band of tanh; of sigmoid for every other kind.
    [[nodiscard]] constexpr band open_band(activation_kind of) const noexcept {
        bool const is_tanh = of == activation_kind::tanh;
        band const inputs = is_tanh ? band{tanh_min, tanh_max} : band{sigmoid_min, sigmoid_max};
        if (!from_output) { return inputs; }
        return is_tanh ? band{tanh_of(inputs.low), tanh_of(inputs.high)}
                       : band{sigmoid_of(inputs.low), sigmoid_of(inputs.high)};
    }

private:
    [[nodiscard]] SPOTTER_STRICT static constexpr double sigmoid_of(double x) noexcept {
        SPOTTER_STRICT_BODY
        return 1 / (1 + exponential(-x));
    }
    [[nodiscard]] SPOTTER_STRICT static constexpr double tanh_of(double x) noexcept {
        SPOTTER_STRICT_BODY
        return 1 - 2 / (exponential(2 * x) + 1);
    }
};

}  // namespace spotter::inline SPOTTER_ABI
