// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): weights that have gradients and hardly move. docs/rules.md#updates_too_small
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/loss_trend.hpp>
#include <spotter/rule/builtin/touched.hpp>
#include <spotter/rule/builtin/update_ratio.hpp>
#include <spotter/stat/statistic.hpp>

namespace spotter::inline SPOTTER_ABI {

// Judges the weights whose update ratio ||W_s - W_r|| / (||W_r|| + 1e-9) / (s - r) is defined and whose gradient, the one that this update
// was made from, is finite and not all zero: warning (info once training has settled) when at least a `share` of them had a ratio
// below `threshold` in `patience` closes in a row. A close without such a weight leaves the count. The detail gives the effective
// learning rate, ||W_s - W_r|| / ||g||. Train steps only.
struct updates_too_small {
    using kind = rule_kind;
    static constexpr std::string_view name = "updates_too_small";
    static constexpr std::string_view remedy = "Scale the learning rate by target ratio over measured ratio.";
    static constexpr mode judged_in = mode::train;

    selector select = &select::weights;
    double threshold = 1e-7;      // update ratio
    double share = 0.5;           // fraction of the weights
    std::uint64_t patience = 50;  // closes
    bool after_update = false;    // the loop observes after the update: the gradient of the same step made it

    // A gradient, where it is finite and not all zero.
    struct slope {
        double squares = 0;  // ||g||^2; 0: none
        std::uint64_t step = 0;
        bool seen = false;
    };
    struct series {
        slope now{}, before{};    // of this step, and the last of those before
        measurement ratio{};      // of this step
        double moved = 0;         // ||W_s - W_r||
        std::uint64_t since = 0;  // r
    };
    struct state {
        slots<series> all;  // by the id of the weight
        slots<bool> judged;
        touched_tensors touched, sloped;  // weights with a ratio; weights with a gradient
        std::uint64_t streak = 0;
        settled_context settled;
    };

    [[nodiscard]] constexpr terms needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? terms::delta : terms::none;
    }
    [[nodiscard]] constexpr terms context(tensor_info const& tensor) const noexcept {
        return tensor.role == role::gradient ? terms::sum_squares | terms::nonfinite : settled_context::needs(tensor);
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        if (!seen.judged.grow(tensor.id + std::size_t{1})) { return false; }
        seen.judged[tensor.id] = select(tensor);
        if (!seen.judged[tensor.id]) { return true; }
        return seen.all.grow(tensor.id + std::size_t{1}) && seen.touched.declare(tensor) && seen.sloped.declare(tensor);
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        seen.settled.observe(it);
        if (it.step.mode != mode::train || !seen.judged.holds(it.tensor.id)) { return; }
        if (seen.judged[it.tensor.id]) {
            observe_weight(seen, it);
        } else if (it.tensor.role == role::gradient && seen.judged.holds(it.tensor.partner) &&
                   seen.judged[it.tensor.partner]) {
            bool const finite = it.stats.nonfinite() == 0 && is_finite(it.stats.sum_squares);
            seen.all[it.tensor.partner].now = {finite ? it.stats.sum_squares : 0, it.step.index, true};
            seen.sloped.touch(it.tensor.partner);
        }
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        std::uint64_t weights = 0;
        culprit small;
        double rate = 0;  // of the first that is small
        for (tensor_id const id : seen.touched.all()) {
            series& mine = seen.all[id];
            measurement const ratio = std::exchange(mine.ratio, {});
            slope const& by = after_update ? mine.now : mine.before;
            if (!by.seen || !(by.squares > 0) || by.step < mine.since) { continue; }
            ++weights;
            if (!(ratio.value < threshold)) { continue; }
            if (small.count == 0) { rate = mine.moved / square_root(by.squares); }
            small.blame(seen.touched.name_of(id), ratio.value);
        }
        for (tensor_id const id : seen.sloped.all()) { seen.all[id].before = std::exchange(seen.all[id].now, {}); }
        seen.touched.clear();
        seen.sloped.clear();
        if (weights == 0) { return truth::undecided; }
        double const of_all = detail::quotient(small.count, static_cast<double>(weights));
        seen.streak = small.count > 0 && of_all >= share ? seen.streak + 1 : 0;
        if (seen.streak == 0 || seen.streak < patience) { return truth::no; }
        finding it =
            small.as_finding("update ratio", relation::less, threshold, seen.settled.soften(severity::warning));
        it.reason = "weights hardly move";
        it.detail << small.count << " of " << weights << " weights; effective learning rate " << rate;
        out.push(it);
        return truth::yes;
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "no change of a weight together with its gradient, finite and not all zero";
    }

private:
    // Seen again in the same step it has no ratio, and keeps the one it has.
    static constexpr void observe_weight(state& seen, observation const& it) noexcept {
        measurement const ratio = update_ratio_of(it);
        if (!ratio.known || !seen.touched.touch(it.tensor.id)) { return; }
        series& mine = seen.all[it.tensor.id];
        mine.ratio = ratio;
        mine.moved = square_root(it.stats.delta_sum_squares);
        mine.since = it.stats.previous_index;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
