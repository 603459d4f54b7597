// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a loss that has hardly fallen since the start. docs/rules.md#underfit
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/eval_phase.hpp>
#include <spotter/rule/builtin/per_tensor.hpp>

namespace spotter::inline SPOTTER_ABI {

// Progress is the fall of the smoothed training loss since the start, divided by |L0|; in evaluation the fall of the
// mean loss since the first eval phase. Checked `warmup` steps after the first training loss and every `num_steps` from
// there: warning when progress was below `min_progress` in `patience` checks in a row, and also in evaluation if there
// is any. The result of a check holds until the next. Closes before the first check are undecided. Each loss is judged
// separately.
struct underfit {
    using kind = rule_kind;
    static constexpr std::string_view name = "underfit";
    static constexpr std::string_view remedy = "Check labels and learning rate first, then enlarge the model.";
    static constexpr mode judged_in = mode::train;

    selector select = role::loss;
    std::uint64_t warmup = 500;      // steps
    std::uint64_t num_steps = 100;   // steps between checks
    double min_progress = 0.1;       // fraction of |L0|, and of the first eval phase
    std::uint64_t patience = 3;      // checks
    std::uint64_t smoothing = 50;    // observations
    std::uint64_t phase_length = 1;  // eval closes; 0: until the next close of another mode

    // The result of a check; it holds until the next one.
    enum class outcome : std::uint8_t { unknown, healthy, underfitted };
    struct series {                                       // of one loss
        smoothed now{};                                   // the training loss, smoothed over `smoothing` observations
        measurement first_evaluated{}, last_evaluated{};  // means of whole evaluations
        std::uint64_t first_step = 0, last_step = 0;      // indices in training
        std::uint64_t checks = 0;                         // that were due
        std::uint64_t poor_checks = 0;                    // in a row
        double progress = 0;                              // of the last check
        measurement eval_progress{};       // the fall of the evaluation's loss, as a fraction of its first value
        outcome found = outcome::unknown;  // of the last check
        bool begun = false;                // it was observed in training
    };
    struct state {
        eval_phases phases;
        per_tensor<series> all;
        bool judged = false;
        violation found;
        measurement eval_progress{};  // of the first finding
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
        mine.now.add(loss.value, smoothing);
        std::uint64_t const step = it.step.index;
        if (!mine.begun || step < mine.last_step) {  // starts anew after a rewind, which discards the steps after it
            if (!std::exchange(mine.begun, true) || step < mine.first_step) { mine.first_step = step; }
            mine.checks = step > mine.first_step ? due_after(step - mine.first_step - 1) : 0;
            mine.poor_checks = 0;
            mine.found = outcome::unknown;
        }
        mine.last_step = step;
        std::uint64_t const due = due_after(step - mine.first_step);
        if (due > mine.checks) { look_at(mine, seen.phases.trend(it.tensor.id).start()); }
        mine.checks = due;
        if (mine.found == outcome::unknown) { return; }
        seen.judged = true;
        if (mine.found != outcome::underfitted) { return; }
        if (seen.found.count == 0) { seen.eval_progress = mine.eval_progress; }
        seen.found.blame(it, mine.progress);
    }
    constexpr truth close(state& seen, step_id step, findings& out) const noexcept {
        seen.phases.close(step, phase_length, [&](tensor_id id, std::string_view, eval_phase const& phase) {
            if (!phase.evaluated.known) { return; }
            series& mine = seen.all[id];
            if (!mine.first_evaluated.known) { mine.first_evaluated = phase.evaluated; }
            mine.last_evaluated = phase.evaluated;
        });
        violation const found = std::exchange(seen.found, {});
        bool const judged = std::exchange(seen.judged, false);
        if (found.count > 0) {
            finding it = found.as_finding("loss has hardly fallen", "relative fall of the loss since the start",
                                          relation::less, min_progress);
            if (found.measured < 0) { tell_fall(it.detail, found.measured); }
            if (seen.eval_progress.known) {
                it.detail << (it.detail.empty() ? "eval loss " : "; eval loss ");
                tell_fall(it.detail, seen.eval_progress.value);
            }
            out.push(it);
            return truth::yes;
        }
        return judged ? truth::no : truth::undecided;
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "warm-up not reached: no check was due";
    }

private:
    // The number of checks that are due in so many steps after the first. Indices may be near the largest: no sums.
    [[nodiscard]] constexpr std::uint64_t due_after(std::uint64_t steps) const noexcept {
        return steps < warmup ? 0 : (steps - warmup) / (num_steps > 0 ? num_steps : 1) + 1;
    }
    constexpr void look_at(series& mine, double start) const noexcept {
        measurement const progress = fall(start, mine.now.value());
        if (!progress.known) { return; }
        mine.progress = progress.value;
        mine.eval_progress =
            mine.last_evaluated.known ? fall(mine.first_evaluated.value, mine.last_evaluated.value) : measurement{};
        bool const poor =
            progress.value < min_progress && (!mine.eval_progress.known || mine.eval_progress.value < min_progress);
        mine.poor_checks = poor ? mine.poor_checks + 1 : 0;
        mine.found = poor && mine.poor_checks >= patience ? outcome::underfitted : outcome::healthy;
    }
    [[nodiscard]] SPOTTER_STRICT static constexpr measurement fall(double from, double to) noexcept {
        SPOTTER_STRICT_BODY
        double const size = magnitude(from);
        if (!(size > 0)) { return {}; }
        return {(from - to) / size, true};
    }
};

}  // namespace spotter::inline SPOTTER_ABI
