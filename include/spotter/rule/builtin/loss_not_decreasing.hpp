// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a training loss that stays flat or rises. docs/rules.md#loss_not_decreasing
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/loss_trend.hpp>
#include <spotter/rule/builtin/per_tensor.hpp>

namespace spotter::inline SPOTTER_ABI {

// Compares the smoothed loss with its value `num_steps` earlier, the reference. Rising (error): it grew by more than
// `max_increase` of the reference, or of `floor` times |L0| where the reference is smaller. Flat (warning, note once
// settled): it fell by no more than `min_decrease` of the same divisor in `patience` checks in a row. The result of a
// check holds until the next. Closes before the first check are undecided. Each loss is judged separately. Train steps
// only.
struct loss_not_decreasing {
    using kind = rule_kind;
    static constexpr std::string_view name = "loss_not_decreasing";
    static constexpr std::string_view remedy = "Flat: raise the learning rate and check that gradients reach the "
                                               "weights; rising: lower it and check the sign of the loss.";
    static constexpr mode judged_in = mode::train;

    selector select = role::loss;
    std::uint64_t num_steps = 100;  // steps between checks
    std::uint64_t smoothing = 50;   // observations
    double min_decrease = 0.001;    // fraction of the divisor: the reference, or `floor`; AWS LossNotDecreasing: 0.1 %
    double max_increase = 0.1;      // as above; AWS: 5 %
    std::uint64_t patience = 3;     // checks
    double floor = 1.0;             // the smallest divisor, times |L0|; AWS: 0

    [[nodiscard]] static constexpr loss_not_decreasing sagemaker_defaults() noexcept {
        return {.num_steps = 10, .smoothing = 1, .max_increase = 0.05, .patience = 1, .floor = 0};
    }

    // The result of a check; it holds until the next one.
    enum class outcome : std::uint8_t { unknown, healthy, flat, rising };
    struct series {                        // of one loss
        loss_trend trend{};                // since the first observation
        smoothed now{};                    // the loss, smoothed over `smoothing` observations
        std::uint64_t reference_step = 0;  // the step of `reference`
        double reference = 0;
        std::uint64_t flat_checks = 0;     // in a row
        double drop = 0;                   // of the last check, fraction
        outcome found = outcome::unknown;  // of the last check
    };
    struct state {
        per_tensor<series> all;
        truth answer = truth::undecided;
        violation flat, rising;
        bool settled = false;
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? stats_mask::sum : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        return seen.all.declare(tensor) != nullptr;
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        measurement const loss = loss_of(it);
        if (it.step.mode != mode::train || !loss.known || seen.all.find(it.tensor.id) == nullptr) { return; }
        series& mine = seen.all[it.tensor.id];
        mine.trend.add(loss.value);
        mine.now.add(loss.value, smoothing);
        std::uint64_t const first = smoothing > 0 ? smoothing : 1;
        if (mine.trend.count < first) { return; }
        // The first reference; and a new one after a rewind, which discards the steps after it.
        if (mine.trend.count == first || it.step.index < mine.reference_step) {
            mine.reference_step = it.step.index;
            mine.reference = mine.now.value();
            mine.found = outcome::unknown;
            mine.flat_checks = 0;
            return;
        }
        if (it.step.index - mine.reference_step >= num_steps) { look_at(mine, it.step.index); }
        if (mine.found == outcome::unknown) { return; }
        if (mine.found == outcome::rising) { seen.rising.blame(it, -mine.drop); }
        if (mine.found == outcome::flat) {
            seen.settled = mine.trend.settled && (seen.flat.count == 0 || seen.settled);
            seen.flat.blame(it, mine.drop);
        }
        seen.answer = disjunction(seen.answer == truth::undecided ? truth::no : seen.answer,
                                  truth_of(mine.found != outcome::healthy));
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        violation const rising = std::exchange(seen.rising, {});
        violation const flat = std::exchange(seen.flat, {});
        if (rising.count > 0) {
            finding it = rising.as_finding("loss rises", "relative rise of the smoothed loss", relation::greater,
                                           max_increase, severity::error);
            tell_fall(it.detail, -rising.measured);
            out.push(it);
        }
        if (flat.count > 0) {
            severity const level = seen.settled ? severity::info : severity::warning;
            finding it = flat.as_finding("loss is flat", "relative fall of the smoothed loss", relation::less_equal,
                                         min_decrease, level);
            if (flat.measured < 0) { tell_fall(it.detail, flat.measured); }
            out.push(it);
        }
        return std::exchange(seen.answer, truth::undecided);
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "warm-up not reached: no check was due";
    }

private:
    SPOTTER_STRICT constexpr void look_at(series& mine, std::uint64_t step) const noexcept {
        SPOTTER_STRICT_BODY
        double const now = mine.now.value();
        double divisor = magnitude(mine.reference);
        if (divisor < floor * magnitude(mine.trend.start())) { divisor = floor * magnitude(mine.trend.start()); }
        if (divisor < 1e-12) { divisor = 1e-12; }
        mine.drop = (mine.reference - now) / divisor;
        mine.flat_checks = mine.drop <= min_decrease ? mine.flat_checks + 1 : 0;
        mine.found = mine.drop < -max_increase      ? outcome::rising
                     : mine.flat_checks >= patience ? outcome::flat
                                                    : outcome::healthy;
        mine.reference_step = step;
        mine.reference = now;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
