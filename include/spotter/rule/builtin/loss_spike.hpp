// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a loss far above its recent values. docs/rules.md#loss_spike
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/loss_trend.hpp>
#include <spotter/rule/builtin/per_tensor.hpp>
#include <spotter/rule/builtin/spike_history.hpp>

namespace spotter::inline SPOTTER_ABI {

// With m the median of the last `window` losses and MAD their median distance from it: x is a spike when (x - m) /
// max(1.4826 MAD, rel_floor |m|) is above `threshold` and x - m above `min_rise` times |L0|. A single spike is a note;
// a warning when `persistence` of the last `horizon` losses were spikes; an error when x is above ten times the largest
// of the window (as in Megatron-LM). Spikes do not enter the window. After `relearn` in a row they are taken for the
// new level. A loss that is not finite is an error at once, and requests to skip the update. x is the mean of a loss's
// observations in the step. Each loss is judged separately; a rewind clears the window. Train steps only.
struct loss_spike {
    using kind = rule_kind;
    static constexpr std::string_view name = "loss_spike";
    static constexpr std::string_view remedy = "Skip this batch or return to an earlier checkpoint; inspect the batch.";
    static constexpr mode judged_in = mode::train;

    selector select = role::loss;
    std::uint64_t window = 128;      // losses
    std::uint64_t min_history = 20;  // losses before it judges
    double threshold = 7;            // robust deviations
    double rel_floor = 0.01;         // smallest deviation, times |m|
    double min_rise = 0.1;           // times |L0|
    std::uint64_t persistence = 3;   // spikes
    std::uint64_t horizon = 10;      // losses; 64 at most
    std::uint64_t relearn = 32;      // spikes in a row; 0: never

    struct series {                   // of one loss
        loss_trend trend{};           // since the first observation
        spike_history history;        // since the last rewind
        running_mean now{};           // of this step
        std::uint64_t last_step = 0;  // to detect a rewind
        bool not_finite = false;
    };
    struct state {
        per_tensor<series> all;
        slot_array<std::uint64_t> scratch;
        violation not_finite;
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? stats_mask::sum | stats_mask::nonfinite : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        return seen.all.declare(tensor) != nullptr && seen.all[tensor.id].history.keep(limits(), seen.scratch);
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        if (it.step.mode != mode::train || seen.all.find(it.tensor.id) == nullptr) { return; }
        series& mine = *seen.all.reach(it.tensor.id);
        measurement const loss = loss_of(it);
        if (it.stats.nonfinite() > 0) {
            seen.not_finite.blame(it, static_cast<double>(it.stats.nonfinite()));
            mine.not_finite = true;
        } else if (loss.known) {
            mine.now.add(loss.value);
        }
    }
    constexpr truth close(state& seen, step_id step, findings& out) const noexcept {
        violation const not_finite = std::exchange(seen.not_finite, {});
        violation found;
        spike_history::judgement first;
        severity level = severity::info;
        bool judged = false;
        for (tensor_id const id : seen.all.touched()) {
            series& mine = seen.all[id];
            measurement const loss = std::exchange(mine.now, {}).value();
            if (std::exchange(mine.not_finite, false) || !loss.known) { continue; }
            if (step.index < mine.last_step) { mine.history.clear(); }
            mine.last_step = step.index;
            spike_history::judgement const one =
                mine.history.judge(loss.value, limits(), least_rise(mine.trend), seen.scratch);
            mine.trend.add(loss.value);
            judged = judged || decided(one.spike);
            if (one.spike != truth::yes) { continue; }
            if (found.count == 0) { first = one; }
            level = one.level > level ? one.level : level;
            found.blame(seen.all.name_of(id), one.deviations);
        }
        seen.all.clear();
        if (not_finite.count > 0) { out.push(not_finite.as_not_finite("loss is not finite")); }
        if (found.count > 0) {
            finding it = found.as_finding("loss spikes", spike_history::measure, relation::greater, threshold, level);
            it.detail << "loss " << first.value << ", median " << first.median;
            out.push(it);
        }
        return not_finite.count + found.count > 0 ? truth::yes : judged ? truth::no : truth::undecided;
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "warm-up not reached: fewer than `min_history` losses";
    }

private:
    [[nodiscard]] SPOTTER_STRICT constexpr double least_rise(loss_trend const& trend) const noexcept {
        SPOTTER_STRICT_BODY
        return trend.count > 0 ? min_rise * magnitude(trend.start()) : 0;
    }
    [[nodiscard]] constexpr spike_limits limits() const noexcept {
        return {window, min_history, persistence, horizon, relearn, threshold, rel_floor, 1e-12, false};
    }
};

}  // namespace spotter::inline SPOTTER_ABI
