// SPDX-License-Identifier: Apache-2.0
// Act (L6): what cures measure at every step, whatever other rules report or suppress.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/unit_windows.hpp>
#include <spotter/rule/builtin/update_ratio.hpp>

#include <algorithm>
#include <atomic>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Measurements of the last closed training step.
struct step_measures {
    bool bad_gradient = false, bad_loss = false, bad_weight = false;  // values that are not finite
    measurement gradient_norm{};                                      // l2 norm of all gradients together
    measurement loss{};                                               // the mean of the observed losses
};

// What a gauge measures and cures read. One thread.
struct loop_measures {
    struct layer {
        unit_window window{};
        slot_array<bool> dead{};  // as of the last full window
        std::size_t units = 0;
    };
    step_measures now{};
    std::uint64_t closes = 0;
    double peak = 0;        // the largest update ratio of a weight; decays by 2 % a step
    double first = 0;       // that of the first update, or of the first since the loop was restored
    bool restored = false;  // weights are about to change by a restore, not by an update
    bool watches_units = false;
    per_tensor<layer> layers{};

    // The hook for which the gauge was made, and the machine of it that writes here.
    std::atomic<std::uint32_t> hook{0}, claimed{0};
};

}  // namespace detail

// The rule that `heal::gauge()` returns for a hook. It never has a finding. It measures in one hook, and in one of its
// workers.
struct heal_gauge {
    using kind = rule_kind;
    static constexpr std::string_view name = "heal_gauge";
    static constexpr double fading = 0.98;  // of the largest update ratio, in a step; the value of the packs' diagnosis
    static constexpr std::uint64_t samples = 512;  // finite outputs of a unit before it counts as dead; the value of
                                                   // dead_relu

    detail::loop_measures* into = nullptr;  // owned by the cures; null: it measures nothing
    std::uint32_t hook = 0;                 // the hook for which it was made

    struct state {
        detail::step_measures now{};
        double gradients = 0, losses = 0, peak = 0;
        std::uint64_t count = 0;
        bool any_gradient = false, mine = false, asked = false, trained = false;
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        if (into == nullptr) { return stats_mask::none; }
        switch (tensor.role) {
            case role::gradient:
                return stats_mask::sum_squares | stats_mask::nonfinite;
            case role::loss:
                return stats_mask::sum | stats_mask::nonfinite;
            case role::bias:
                return stats_mask::nonfinite;
            case role::weight:
                return select::weights(tensor) ? stats_mask::nonfinite | stats_mask::change | stats_mask::sum_squares
                                               : stats_mask::nonfinite;
            case role::activation:
                return into->watches_units && has_units(tensor) ? stats_mask::unit_activity : stats_mask::none;
            default:
                return stats_mask::none;
        }
    }
    [[nodiscard]] bool declare(state& seen, tensor_info const& tensor) const noexcept {
        if (!owns(seen) || tensor.role != role::activation) { return true; }
        detail::loop_measures::layer* const mine = into->layers.declare(tensor);
        if (mine == nullptr) { return false; }
        mine->units = as_size(unit_count(tensor.shape, default_axis, batch_axis_of(tensor.flags)));
        return mine->window.begin(mine->units) && mine->dead.grow(mine->units);
    }
    SPOTTER_STRICT void observe(state& seen, observation const& it) const noexcept {
        SPOTTER_STRICT_BODY
        if (it.step.mode != mode::train || !owns(seen)) { return; }
        seen.trained = true;
        bool const bad = it.stats.nonfinite() > 0;
        switch (it.tensor.role) {
            case role::gradient:
                seen.now.bad_gradient = seen.now.bad_gradient || bad;
                seen.any_gradient = true;
                seen.gradients += it.stats.sum_squares;
                break;
            case role::loss:
                seen.now.bad_loss = seen.now.bad_loss || bad;
                if (measurement const value = mean(it.stats); value.known) { seen.losses += value.value, ++seen.count; }
                break;
            case role::weight:
            case role::bias:
                seen.now.bad_weight = seen.now.bad_weight || bad;
                if (select::weights(it.tensor)) { seen.peak = (std::max)(seen.peak, update_ratio_of(it).value); }
                break;
            default:
                count_units(it);
        }
    }
    SPOTTER_STRICT truth close(state& seen, step_id, findings&) const noexcept {
        SPOTTER_STRICT_BODY
        if (!seen.mine || !seen.trained) { return truth::undecided; }
        if (seen.any_gradient) { seen.now.gradient_norm = {square_root(seen.gradients), is_finite(seen.gradients)}; }
        if (seen.count > 0) { seen.now.loss = {seen.losses / static_cast<double>(seen.count), is_finite(seen.losses)}; }
        note_update(seen.peak);
        into->now = seen.now;
        ++into->closes;
        seen = {.mine = true, .asked = true};
        return truth::no;
    }

private:
    SPOTTER_STRICT void note_update(double const& ratio) const noexcept {
        SPOTTER_STRICT_BODY
        into->peak *= fading;
        if (std::exchange(into->restored, false)) {
            into->peak = into->first = 0;
        } else if (ratio > 0) {
            if (ratio > into->peak) { into->peak = ratio; }
            if (into->first == 0) { into->first = ratio; }
        }
    }
    [[nodiscard]] static constexpr bool has_units(tensor_info const& tensor) noexcept {
        return select::relu_activations(tensor) &&
               unit_count(tensor.shape, default_axis, batch_axis_of(tensor.flags)) > 0;
    }
    // Of the machines of a hook and its workers, the first that observes something.
    [[nodiscard]] bool owns(state& seen) const noexcept {
        if (into->hook.load(std::memory_order_relaxed) != hook) { return seen.mine = false; }
        if (!seen.asked) {
            std::uint32_t last = into->claimed.load(std::memory_order_relaxed);
            seen.mine = last != hook && into->claimed.compare_exchange_strong(last, hook);
            seen.asked = true;
        }
        return seen.mine;
    }
    void count_units(observation const& it) const noexcept {
        detail::loop_measures::layer* const mine = into->layers.find(it.tensor.id);
        if (mine == nullptr || it.units.active.size() != mine->units) { return; }
        for (std::size_t unit = 0; unit < mine->units; ++unit) {
            mine->window.add(unit, it.units.active[unit], it.units.finite[unit]);
        }
        if (!mine->window.complete(samples)) { return; }
        for (std::size_t unit = 0; unit < mine->units; ++unit) {
            mine->dead[unit] = mine->window.known(unit, samples) && mine->window.amount[unit] == 0;
        }
        mine->window.begin(mine->units);
    }
};

}  // namespace spotter::inline SPOTTER_ABI
