// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a loss that is much worse in evaluation than in training. docs/rules.md#overfit
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/eval_phase.hpp>
#include <spotter/rule/builtin/per_tensor.hpp>

namespace spotter::inline SPOTTER_ABI {

// With V the mean loss of an eval phase and T that of the training before it: warning when (V - T) / |T| is above
// `ratio_threshold` and V - T above `min_gap` times |L0|, for `patience` phases in a row. `min_rise` adds a condition.
// V must then also exceed the best V so far by that many times |L0|. While V is not below `learned` times the first V
// (if that is below zero: below it by the same share), it suffices that V is not better than the best. Judged where a
// phase ends; other closes are undecided. Each loss is judged separately.
struct overfit {
    using kind = rule_kind;
    static constexpr std::string_view name = "overfit";
    static constexpr std::string_view remedy =
        "Stop at the best validation step, or add data, regularisation or augmentation.";
    static constexpr mode judged_in = mode::eval;  // and train: see silence

    selector select = role::loss;
    std::uint64_t start_step = 0;    // train step before which no phase is judged; AWS Overfit
    std::uint64_t patience = 3;      // phases; AWS: 1
    double ratio_threshold = 0.5;    // fraction of |T|; AWS: 0.1
    double min_gap = 0.1;            // times |L0|; keeps 0.001 against 0.002 silent; AWS: none
    std::uint64_t phase_length = 1;  // eval closes; 0: until the next close of another mode
    double min_rise = 0;             // times |L0|; 0: no such condition, so the best evaluation may be overfit too
    double learned = 0.7;            // times the first V; a V below it has learned something and must rise

    [[nodiscard]] static constexpr overfit sagemaker_defaults() noexcept {
        return {.patience = 1, .ratio_threshold = 0.1, .min_gap = 0};
    }

    struct series {  // of one loss
        std::uint64_t streak = 0;
        measurement first{}, best{};  // V
    };
    struct state {
        eval_phases phases;
        per_tensor<series> all;
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? stats_mask::sum : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        return seen.all.declare(tensor) != nullptr && seen.phases.declare(tensor);
    }
    constexpr void observe(state& seen, observation const& it) const noexcept { seen.phases.observe(it, phase_length); }
    constexpr truth close(state& seen, step_id step, findings& out) const noexcept {
        bool judged = false;
        violation found;
        eval_phase first;
        seen.phases.close(step, phase_length, [&](tensor_id id, std::string_view tensor, eval_phase const& phase) {
            series& mine = seen.all[id];
            if (phase.rewound) { mine = {}; }
            if (!phase.evaluated.known) { return; }
            series const before = mine;
            if (!mine.first.known) { mine.first = phase.evaluated; }
            if (!mine.best.known || phase.evaluated.value < mine.best.value) { mine.best = phase.evaluated; }
            if (!phase.trained.known || phase.trained_until < start_step) { return; }
            double ratio = 0;
            double const start = seen.phases.trend(id).start();
            bool const holds = apart(phase, start, ratio) && has_risen(phase.evaluated.value, before, start);
            mine.streak = holds ? mine.streak + 1 : 0;
            judged = true;
            if (mine.streak == 0 || mine.streak < patience) { return; }
            if (found.count == 0) { first = phase; }
            found.blame(tensor, ratio);
        });
        if (found.count > 0) {
            finding it = found.as_finding("eval loss is far above the training loss", "relative gap of the losses",
                                          relation::greater, ratio_threshold);
            it.detail << "train " << first.trained.value << ", eval " << first.evaluated.value;
            out.push(it);
            return truth::yes;
        }
        return judged ? truth::no : truth::undecided;
    }
    [[nodiscard]] constexpr std::string_view silence(state const& seen) const noexcept { return seen.phases.silence(); }

private:
    [[nodiscard]] SPOTTER_STRICT constexpr bool apart(eval_phase const& phase, double start,
                                                      double& ratio) const noexcept {
        SPOTTER_STRICT_BODY
        double const gap = phase.evaluated.value - phase.trained.value;
        double const size = magnitude(phase.trained.value);
        ratio = gap / (size > 1e-12 ? size : 1e-12);
        return ratio > ratio_threshold && gap > min_gap * magnitude(start);
    }
    [[nodiscard]] SPOTTER_STRICT constexpr bool has_risen(double now, series const& before,
                                                          double start) const noexcept {
        SPOTTER_STRICT_BODY
        if (!(min_rise > 0)) { return true; }
        if (!before.best.known) { return false; }
        bool const rests = now >= before.best.value && now >= detail::rescaled(before.first.value, learned);
        return rests || now - before.best.value >= min_rise * magnitude(start);
    }
};

}  // namespace spotter::inline SPOTTER_ABI
