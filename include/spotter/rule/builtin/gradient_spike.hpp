// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a gradient norm far above its recent values. docs/rules.md#gradient_spike
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/per_tensor.hpp>
#include <spotter/rule/builtin/spike_history.hpp>

namespace spotter::inline SPOTTER_ABI {

// The criterion of loss_spike, applied to the logarithm of the global gradient norm (the root of the sum of squares
// over all gradients of the step). The smallest deviation is `floor`; a norm above ten times the largest of the window
// is an error. A gradient that is not finite is an error at once, and requests to skip the update. Not judged where all
// gradients are zero. The finding names the gradient with the largest norm. Observe the same gradients at each step; of
// several observations in a step the last counts. Train steps only.
struct gradient_spike {
    using kind = rule_kind;
    static constexpr std::string_view name = "gradient_spike";
    static constexpr std::string_view remedy = "Clip the global gradient norm and lower the learning rate.";
    static constexpr mode judged_in = mode::train;

    selector select = role::gradient;
    std::uint64_t window = 128;      // steps
    std::uint64_t min_history = 20;  // steps before it judges
    double threshold = 7;            // robust deviations
    double floor = 0.1;              // smallest deviation, in the natural logarithm
    std::uint64_t persistence = 3;   // spikes
    std::uint64_t horizon = 10;      // steps; 64 at most
    std::uint64_t relearn = 32;      // spikes in a row; 0: never

    struct state {
        per_tensor<double> squares;  // of this step
        slot_array<std::uint64_t> scratch;
        spike_history history;
        violation not_finite;
        std::uint64_t last_step = 0;
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? stats_mask::sum_squares | stats_mask::nonfinite : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        return seen.squares.declare(tensor) != nullptr && seen.history.keep(limits(), seen.scratch);
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        if (it.step.mode != mode::train || seen.squares.find(it.tensor.id) == nullptr) { return; }
        if (it.stats.nonfinite() > 0 || !is_finite(it.stats.sum_squares)) {
            seen.not_finite.blame(it, it.stats.nonfinite() > 0 ? static_cast<double>(it.stats.nonfinite()) : 1);
            return;
        }
        if (it.stats.count == 0) { return; }
        *seen.squares.reach(it.tensor.id) = it.stats.sum_squares;
    }
    constexpr truth close(state& seen, step_id step, findings& out) const noexcept {
        violation const not_finite = std::exchange(seen.not_finite, {});
        if (not_finite.count > 0) {
            seen.squares.clear();
            out.push(not_finite.as_not_finite("gradient is not finite"));
            return truth::yes;
        }
        violation found;
        double const total = total_of(seen, found);
        seen.squares.clear();
        if (!(total > 0) || !is_finite(total)) { return truth::undecided; }
        if (step.index < seen.last_step) { seen.history.clear(); }
        seen.last_step = step.index;
        double const norm = square_root(total);
        spike_history::judgement const one = seen.history.judge(natural_log(norm), limits(), 0, seen.scratch);
        if (one.spike == truth::yes) {
            found.measured = one.deviations;
            finding it = found.as_finding("gradient norm spikes", spike_history::measure, relation::greater, threshold,
                                          one.level);
            it.detail << "global norm " << norm << ", median " << exponential(one.median);
            out.push(it);
        }
        return one.spike;
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "warm-up not reached: fewer than `min_history` steps with a gradient that is not zero";
    }

private:
    // The sum of squares, and the tensor with the largest share.
    [[nodiscard]] SPOTTER_STRICT static constexpr double total_of(state const& seen, violation& largest) noexcept {
        SPOTTER_STRICT_BODY
        double total = 0, most = -1;
        for (tensor_id const id : seen.squares.touched()) {
            total += seen.squares[id];
            if (!(seen.squares[id] > most)) { continue; }
            most = seen.squares[id];
            largest.tensor = seen.squares.name_of(id);
            largest.count = 1;
        }
        return total;
    }
    [[nodiscard]] constexpr spike_limits limits() const noexcept {
        return {window, min_history, persistence, horizon, relearn, threshold, 0, floor, true};
    }
};

}  // namespace spotter::inline SPOTTER_ABI
