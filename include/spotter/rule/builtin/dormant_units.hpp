// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): units with far smaller outputs than the rest of their layer. docs/rules.md#dormant_units
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/unit_windows.hpp>
#include <spotter/stat/units.hpp>

namespace spotter::inline SPOTTER_ABI {

// A unit's score is its mean |h| divided by the mean of its layer's units, over windows as in dead_relu. A unit is
// dormant where the score is at most `tau`; in an all-zero layer every unit is dormant. Warning when more than
// `max_share` of the units are dormant. For activations of any kind, in train steps only.
struct dormant_units {
    using kind = rule_kind;
    static constexpr std::string_view name = "dormant_units";
    static constexpr std::string_view remedy =
        "Check the bias and learning rate of the named layer; try a leaky activation.";
    static constexpr mode judged_in = mode::train;

    selector select = role::activation;
    double tau = 0.025;            // of the layer's mean; as quoted from Sokar et al. 2023 (the published code has 0)
    double max_share = 0.5;        // fraction of a layer's units
    std::uint64_t samples = 4096;  // finite outputs a unit (batch times spatial positions)
    int unit_axis = default_axis;  // 1 for rank >= 2 (batch first), 0 for rank 1

    struct state {
        unit_windows windows;  // a unit's amount is the sum of |h|
        slot_array<double> scratch;
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return select(tensor) && units_along(tensor, tensor.shape, unit_axis) >= 0 ? stats_mask::feature
                                                                                   : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        std::uint64_t const units = unit_count(tensor.shape, units_along(tensor, tensor.shape, unit_axis));
        return seen.windows.declare(tensor, units) && seen.scratch.grow(as_size(2 * units));
    }
    [[nodiscard]] constexpr std::uint64_t feature_key() const noexcept { return key_of(name, 2, unit_axis); }
    // For each unit that is judged (unit_sample): the sum of |h|, as the bits of a float, and the number of its finite
    // elements.
    constexpr void extract(state& seen, observation const& it, tensor_ref const& values, feature& out) const noexcept {
        int const axis = units_along(it.tensor, values.shape, unit_axis);
        auto const units = as_size(unit_count(values.shape, axis));
        if (axis < 0) { return; }
        if (!seen.scratch.grow(2 * units)) { return out.give_up(); }
        double* const sums = seen.scratch.data();
        double* const finite = sums + units;
        for (std::size_t i = 0; i < 2 * units; ++i) { sums[i] = 0; }
        add_sizes(values, axis, sums, finite);
        unit_sample const judged{units};
        for (std::size_t i = 0; i < judged.size(); ++i) {
            out.push(static_cast<double>(short_bits(sums[judged[i]])));
            out.push(finite[judged[i]]);
        }
    }
    constexpr void observe(state& seen, observation const& it, std::span<double const> sums) const noexcept {
        if (it.step.mode != mode::train) { return; }
        seen.windows.add(it, sums, [](double bits) { return sum_of(bits); });
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        return seen.windows.close(samples, max_share, "units are dormant", "share of dormant units", out,
                                  [&](unit_window const& layer) { return dormant_share(layer); });
    }
    [[nodiscard]] constexpr bool short_of_memory(state const& seen) const noexcept {
        return seen.windows.lacks_memory();
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "warm-up not reached: fewer than `samples` outputs a unit";
    }

private:
    // Whole numbers need a third of the space in a record. Large sums are clamped to the largest float.
    [[nodiscard]] static constexpr std::uint32_t short_bits(double const& size) noexcept {
        constexpr double most = 3.4028234663852886e38;
        return std::bit_cast<std::uint32_t>(static_cast<float>(size < most ? size : most));
    }
    // Infinite, and therefore left out, where a damaged record has no such bits.
    [[nodiscard]] static constexpr double sum_of(double const& bits) noexcept {
        if (!is_finite(bits) || !(bits >= 0) || !(bits < 0x1p32)) { return std::bit_cast<double>(f64_bits::exponent); }
        auto const whole = static_cast<std::uint32_t>(bits);
        auto const size = static_cast<double>(std::bit_cast<float>(whole));
        return static_cast<double>(whole) == bits ? size : std::bit_cast<double>(f64_bits::exponent);
    }
    [[nodiscard]] SPOTTER_STRICT constexpr double dormant_share(unit_window const& layer) const noexcept {
        SPOTTER_STRICT_BODY
        double total = 0, judged = 0;
        for (std::size_t unit = 0; unit < layer.units; ++unit) {
            if (!layer.known(unit, samples)) { continue; }
            total += layer.amount[unit] / layer.finite[unit];
            ++judged;
        }
        double const limit = tau * (total / judged);
        double dormant = 0;
        for (std::size_t unit = 0; unit < layer.units; ++unit) {
            if (!layer.known(unit, samples)) { continue; }
            dormant += layer.amount[unit] / layer.finite[unit] <= limit ? 1 : 0;
        }
        return dormant / judged;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
