// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): weights that hardly move although they have gradients. docs/rules.md#updates_too_small
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/loss_trend.hpp>
#include <spotter/rule/builtin/per_tensor.hpp>
#include <spotter/rule/builtin/update_ratio.hpp>
#include <spotter/stat/statistic.hpp>

namespace spotter::inline SPOTTER_ABI {

// Judges weights whose update ratio ||W_s - W_r|| / (||W_r|| + 1e-9) / (s - r) is defined and whose gradient (the one
// that made the update) is finite and not all zero. Warning (note once training has settled) when at least a `share` of
// them had a ratio below `threshold` in `patience` closes in a row. A close without such a weight does not change the
// count. The detail has the effective learning rate, ||W_s - W_r|| / ||g||. Train steps only.
struct updates_too_small {
    using kind = rule_kind;
    static constexpr std::string_view name = "updates_too_small";
    static constexpr std::string_view remedy = "Scale the learning rate by target ratio over measured ratio.";
    static constexpr mode judged_in = mode::train;

    selector select = &select::weights;
    double threshold = 1e-7;      // update ratio
    double share = 0.5;           // fraction of the weights
    std::uint64_t patience = 50;  // closes
    bool after_update = false;    // the gradient of the same step made the update, whatever options::instant says

    // A gradient that is finite and not all zero.
    struct slope {
        double squares = 0;      // ||g||^2; 0: none
        std::uint64_t step = 0;  // its index
        bool seen = false;       // a gradient was observed
    };
    struct series {               // of one weight
        slope before{};           // the latest before this step
        measurement ratio{};      // of this step
        double moved = 0;         // ||W_s - W_r||
        std::uint64_t since = 0;  // r
        bool judged = false;      // it is judged; otherwise it is read for its gradient, or for `settled`
        bool after = false;       // it is observed after the update
    };
    struct state {
        per_tensor<series> all;    // touched: weights with a ratio in this step
        per_tensor<slope> slopes;  // of this step, by the weight's id
        std::uint64_t streak = 0;
        settled_context settled;
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? stats_mask::change : stats_mask::none;
    }
    [[nodiscard]] constexpr stats_mask context(tensor_info const& tensor) const noexcept {
        return tensor.role == role::gradient ? stats_mask::sum_squares | stats_mask::nonfinite
                                             : settled_context::needs(tensor);
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        series* const mine = seen.all.declare(tensor);
        if (mine == nullptr) { return false; }
        bool const wanted = select(tensor), room = !wanted || seen.slopes.declare(tensor) != nullptr;
        mine->judged = wanted && room;
        mine->after = after_update || tensor.instant == instant::after_update;
        return room;
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        seen.settled.observe(it);
        if (it.step.mode != mode::train || seen.all.find(it.tensor.id) == nullptr) { return; }
        series const* const weight = seen.all.find(it.tensor.partner);
        if (seen.all[it.tensor.id].judged) {
            observe_weight(seen, it);
        } else if (it.tensor.role == role::gradient && weight != nullptr && weight->judged) {
            bool const finite = it.stats.nonfinite() == 0 && is_finite(it.stats.sum_squares);
            *seen.slopes.reach(it.tensor.partner) = {finite ? it.stats.sum_squares : 0, it.step.index, true};
        }
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        std::uint64_t weights = 0;
        violation tiny;
        double rate = 0;  // of the first weight with a small ratio
        for (tensor_id const id : seen.all.touched()) {
            series& mine = seen.all[id];
            measurement const ratio = std::exchange(mine.ratio, {});
            slope const& by = mine.after ? seen.slopes[id] : mine.before;
            if (!by.seen || !(by.squares > 0) || by.step < mine.since) { continue; }
            ++weights;
            if (!(ratio.value < threshold)) { continue; }
            if (tiny.count == 0) { rate = mine.moved / square_root(by.squares); }
            tiny.blame(seen.all.name_of(id), ratio.value);
        }
        for (tensor_id const id : seen.slopes.touched()) { seen.all[id].before = std::exchange(seen.slopes[id], {}); }
        seen.all.clear();
        seen.slopes.clear();
        if (weights == 0) { return truth::undecided; }
        double const of_all = detail::quotient(tiny.count, static_cast<double>(weights));
        seen.streak = tiny.count > 0 && of_all >= share ? seen.streak + 1 : 0;
        if (seen.streak == 0 || seen.streak < patience) { return truth::no; }
        finding it = tiny.as_finding("weights hardly move", "update ratio", relation::less, threshold,
                                     seen.settled.soften(severity::warning));
        it.detail << tiny.count << " of " << weights << " weights; effective learning rate " << rate;
        out.push(it);
        return truth::yes;
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "no change of a weight together with its gradient, finite and not all zero";
    }

private:
    // A second observation in the same step has no ratio; the first one's is kept.
    static constexpr void observe_weight(state& seen, observation const& it) noexcept {
        measurement const ratio = update_ratio_of(it);
        if (!ratio.known || !seen.all.touch(it.tensor.id)) { return; }
        series& mine = seen.all[it.tensor.id];
        mine.ratio = ratio;
        mine.moved = square_root(it.stats.delta_sum_squares);
        mine.since = it.stats.previous_index;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
