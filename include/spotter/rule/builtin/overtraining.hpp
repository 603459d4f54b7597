// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): training beyond the best validation loss. docs/rules.md#overtraining
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/eval_phase.hpp>
#include <spotter/rule/builtin/per_tensor.hpp>

namespace spotter::inline SPOTTER_ABI {

// With V the mean loss of an eval phase and T that of the training before it: warning when `patience_validation` phases
// have passed since V was best, V has been above that by `delta` for `lasting` phases in a row, the best was below the
// first V by `delta`, and T has fallen by `delta` since. `require_both_stalled` is AWS's criterion: neither loss
// improved by `delta` within its patience. Judged where a phase ends; other closes are undecided. A rewind of training
// restarts the patience. Each loss is judged separately.
struct overtraining {
    using kind = rule_kind;
    static constexpr std::string_view name = "overtraining";
    static constexpr std::string_view remedy =
        "Stop at the best validation step, or add data, regularisation or augmentation.";
    static constexpr mode judged_in = mode::eval;  // and train: see silence

    selector select = role::loss;
    std::uint64_t patience_train = 50;       // training losses, where both must have stalled; AWS Overtraining: 5
    std::uint64_t patience_validation = 10;  // phases; AWS
    std::uint64_t lasting = 3;               // phases: a single one may be high by chance
    double delta = 0.05;                     // a change that counts; AWS: 0.01
    bool relative = true;                    // `delta` is times |L0|; AWS: absolute
    bool require_both_stalled = false;       // AWS: true
    std::uint64_t phase_length = 1;          // eval closes; 0: until the next close of another mode

    [[nodiscard]] static constexpr overtraining sagemaker_defaults() noexcept {
        return {.patience_train = 5, .delta = 0.01, .relative = false, .require_both_stalled = true};
    }

    struct series {                      // of one loss
        double first = 0, best = 0;      // V
        std::uint64_t phases = 0;        // with a finite V
        std::uint64_t since_best = 0;    // phases
        std::uint64_t above_best = 0;    // phases in a row
        measurement trained_at_best{};   // T
        double best_trained = 0;         // the training loss at its best
        std::uint64_t since_better = 0;  // training losses
        bool trained = false;            // it was observed in training
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
    constexpr void observe(state& seen, observation const& it) const noexcept {
        seen.phases.observe(it, phase_length);
        measurement const loss = loss_of(it);
        if (place_of(it).when != mode::train || !loss.known || seen.all.find(it.tensor.id) == nullptr) { return; }
        series& mine = seen.all[it.tensor.id];
        if (!std::exchange(mine.trained, true) ||
            below(loss.value, mine.best_trained, step_of(seen.phases.trend(it.tensor.id)))) {
            mine.best_trained = loss.value;
            mine.since_better = 0;
        } else {
            ++mine.since_better;
        }
    }
    constexpr truth close(state& seen, step_id step, findings& out) const noexcept {
        bool judged = false;
        violation found;
        double best = 0, now = 0;
        seen.phases.close(step, phase_length, [&](tensor_id id, std::string_view tensor, eval_phase const& phase) {
            series& mine = seen.all[id];
            double const least = step_of(seen.phases.trend(id));
            if (phase.rewound) { mine.since_best = mine.since_better = mine.above_best = 0, mine.trained_at_best = {}; }
            if (!phase.evaluated.known) { return; }
            follow(mine, phase, least);
            if (!(require_both_stalled ? mine.trained : phase.trained.known)) { return; }
            judged = true;
            if (!holds(mine, phase, least)) { return; }
            if (found.count == 0) { best = mine.best, now = phase.evaluated.value; }
            found.blame(tensor, static_cast<double>(mine.since_best));
        });
        if (found.count > 0) {
            finding it = found.as_finding(
                require_both_stalled ? "neither loss improves" : "eval loss rises while the training loss falls",
                "phases since the best eval loss", relation::greater_equal, static_cast<double>(patience_validation));
            it.detail << "best eval loss " << best << ", now " << now;
            out.push(it);
            return truth::yes;
        }
        return judged ? truth::no : truth::undecided;
    }
    [[nodiscard]] constexpr std::string_view silence(state const& seen) const noexcept { return seen.phases.silence(); }

private:
    [[nodiscard]] SPOTTER_STRICT constexpr double step_of(loss_trend const& trend) const noexcept {
        SPOTTER_STRICT_BODY
        if (!relative) { return delta; }
        double least = trend.count > 0 ? delta * magnitude(trend.start()) : 0;
        force_rounding(least);
        return least;
    }
    [[nodiscard]] SPOTTER_STRICT static constexpr bool below(double value, double other, double least) noexcept {
        SPOTTER_STRICT_BODY
        return value < other - least;
    }
    static constexpr void follow(series& mine, eval_phase const& phase, double least) noexcept {
        double const now = phase.evaluated.value;
        mine.above_best = mine.phases > 0 && below(mine.best, now, least) ? mine.above_best + 1 : 0;
        if (mine.phases++ == 0 || below(now, mine.best, least)) {
            if (mine.phases == 1) { mine.first = now; }
            mine.best = now;
            mine.since_best = 0;
            mine.trained_at_best = phase.trained;
            return;
        }
        ++mine.since_best;
        if (!mine.trained_at_best.known) { mine.trained_at_best = phase.trained; }
    }
    [[nodiscard]] SPOTTER_STRICT constexpr bool holds(series const& mine, eval_phase const& phase,
                                                      double least) const noexcept {
        SPOTTER_STRICT_BODY
        if (mine.since_best < patience_validation) { return false; }
        if (require_both_stalled) { return mine.since_better >= patience_train; }
        return mine.above_best >= lasting && mine.best < mine.first - least &&
               mine.trained_at_best.value - phase.trained.value >= least;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
