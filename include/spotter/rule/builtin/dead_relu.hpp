// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): ReLU units that no input activates. docs/rules.md#dead_relu
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/streaks.hpp>

namespace spotter::inline SPOTTER_ABI {

// Counts, per unit, the non-zero finite outputs over a window that ends at the close where every unit has `samples` finite
// outputs; then judges and begins anew. Warning when more than `threshold_layer` of the units were active in less than
// `threshold_inactivity` of them. Never judges by the share of zero elements: half of a healthy layer's outputs are zero.
// Train steps only; closes between two windows are undecided.
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

    struct window {
        slots<std::uint64_t> active, finite;
        std::uint64_t units = 0;
        bool touched = false;
    };
    struct state {
        slots<window> windows;   // by tensor id
        slots<tensor_id> order;  // touched tensors of this step, in observation order
        std::size_t touched = 0;
        slots<std::string_view> names;
    };

    [[nodiscard]] constexpr terms needs(tensor_info const& tensor) const noexcept {
        return select(tensor) && unit_count(tensor.shape, unit_axis, batch_axis_of(tensor.flags)) > 0
                   ? terms::unit_activity
                   : terms::none;
    }
    constexpr void declare(state& seen, tensor_info const& tensor) const noexcept {
        std::size_t const room = tensor.id + std::size_t{1};
        if (!seen.windows.grow(room) || !seen.names.grow(room) || !seen.order.grow(room)) { return; }
        seen.names[tensor.id] = tensor.name;
        std::uint64_t const units = unit_count(tensor.shape, unit_axis, batch_axis_of(tensor.flags));
        if (seen.windows[tensor.id].units != units) { size(seen.windows[tensor.id], units); }  // may be declared again
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        if (it.step.mode != mode::train || !seen.windows.holds(it.tensor.id) || it.units.active.empty()) { return; }
        window& mine = seen.windows[it.tensor.id];
        if (mine.units != it.units.active.size()) { size(mine, it.units.active.size()); }
        if (mine.units != it.units.active.size()) { return; }
        for (std::size_t unit = 0; unit < mine.units; ++unit) {
            mine.active[unit] += it.units.active[unit];
            mine.finite[unit] += it.units.finite[unit];
        }
        if (!std::exchange(mine.touched, true)) { seen.order[seen.touched++] = it.tensor.id; }
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        truth answer = truth::undecided;
        culprit found;
        for (std::size_t i = 0; i < seen.touched; ++i) {
            window& mine = seen.windows[seen.order[i]];
            mine.touched = false;
            if (!complete(mine)) { continue; }
            double const share = dead_share(mine);
            if (share > threshold_layer) {
                answer = truth::yes;
                if (found.count++ == 0) { found.tensor = seen.names[seen.order[i]], found.measured = share; }
            } else if (answer == truth::undecided) {
                answer = truth::no;
            }
            size(mine, mine.units);
        }
        seen.touched = 0;
        if (answer == truth::yes) {
            finding it = found.as_finding("share of dead units", relation::greater, threshold_layer, severity::warning);
            it.reason = "units never activate";
            out.push(it);
        }
        return answer;
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "warm-up not reached: fewer than `samples` outputs a unit";
    }

private:
    // An empty window of so many units.
    static constexpr void size(window& mine, std::uint64_t units) noexcept {
        if (!mine.active.grow(units) || !mine.finite.grow(units)) {
            mine.units = 0;
            return;
        }
        mine.units = units;
        for (std::size_t unit = 0; unit < units; ++unit) { mine.active[unit] = 0, mine.finite[unit] = 0; }
    }
    [[nodiscard]] constexpr bool known(window const& mine, std::uint64_t unit) const noexcept {
        return mine.finite[unit] > 0 && mine.finite[unit] >= samples;
    }
    // Once the best known unit is: one that is never finite must not keep the others from being judged.
    [[nodiscard]] constexpr bool complete(window const& mine) const noexcept {
        for (std::uint64_t unit = 0; unit < mine.units; ++unit) {
            if (known(mine, unit)) { return true; }
        }
        return false;
    }
    [[nodiscard]] SPOTTER_STRICT constexpr double dead_share(window const& mine) const noexcept {
        SPOTTER_STRICT_BODY
        std::uint64_t dead = 0, judged = 0;
        for (std::uint64_t unit = 0; unit < mine.units; ++unit) {
            if (!known(mine, unit)) { continue; }
            double const activity = static_cast<double>(mine.active[unit]) / static_cast<double>(mine.finite[unit]);
            dead += activity < threshold_inactivity ? 1 : 0;
            ++judged;
        }
        return static_cast<double>(dead) / static_cast<double>(judged);
    }
};

}  // namespace spotter::inline SPOTTER_ABI
