// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): weights that move too much or too little in a step, relative to their size.
// docs/rules.md#update_ratio_band
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/loss_trend.hpp>
#include <spotter/rule/builtin/per_tensor.hpp>
#include <spotter/rule/builtin/streaks.hpp>
#include <spotter/rule/builtin/update_ratio.hpp>

namespace spotter::inline SPOTTER_ABI {

// The update ratio of a weight observed at steps r < s is ||W_s - W_r|| / (||W_r|| + 1e-9) / (s - r), undefined where
// W_r or the change is zero. Fires when its geometric average, smoothed over `smoothing` observations, is outside the
// band for `patience` observations in a row, after `warmup` observations. Above `high` is a warning; below `low` is a
// note, since a healthy SGD gets there late in training. Train steps only.
struct update_ratio_band {
    using kind = rule_kind;
    static constexpr std::string_view name = "update_ratio_band";
    static constexpr std::string_view remedy = "Scale the learning rate by target ratio over measured ratio.";
    static constexpr mode judged_in = mode::train;

    selector select = &select::weights;
    double low = 1e-5;             // limits of DeepDiagnosis: target times and over 100; 0: no lower limit
    double high = 1e-1;            // of the ratio
    double target = 1e-3;          // a common rule of thumb; named in the finding
    std::uint64_t smoothing = 20;  // observations
    std::uint64_t warmup = 20;     // observations
    std::uint64_t patience = 20;   // observations

    struct series {                                     // of one weight
        smoothed log_ratio{};                           // base 10
        std::uint64_t count = 0, above = 0, below = 0;  // observations; in a row above `high`, below `low`
    };
    struct state {
        per_tensor<series> all;
        bool judged = false;
        violation above, below;
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? stats_mask::change | stats_mask::sum_squares : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        return seen.all.declare(tensor) != nullptr;
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        if (it.step.mode != mode::train || seen.all.find(it.tensor.id) == nullptr) { return; }
        measurement const ratio = update_ratio_of(it);
        if (!ratio.known || !(ratio.value > 0)) { return; }
        series& mine = seen.all[it.tensor.id];
        mine.log_ratio.add(decimal_log(ratio.value), smoothing);
        if (++mine.count <= warmup) { return; }
        seen.judged = true;
        double const average = mine.log_ratio.value();
        mine.above = average > decimal_log(high) ? mine.above + 1 : 0;
        mine.below = average < decimal_log(low) ? mine.below + 1 : 0;
        double const measured = exponential(average / 0.434294481903251827651);
        if (mine.above >= patience) { seen.above.blame(it, measured); }
        if (mine.below >= patience) { seen.below.blame(it, measured); }
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        violation const above = std::exchange(seen.above, {});
        violation const below = std::exchange(seen.below, {});
        if (above.count > 0) { tell(above, "updates are too large", relation::greater, high, severity::warning, out); }
        if (below.count > 0) { tell(below, "updates are too small", relation::less, low, severity::info, out); }
        bool const judged = std::exchange(seen.judged, false);
        return above.count + below.count > 0 ? truth::yes : judged ? truth::no : truth::undecided;
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "warm-up not reached: fewer than `warmup` changes of a weight";
    }

private:
    constexpr void tell(violation const& found, std::string_view reason, relation how, double limit, severity level,
                        findings& out) const noexcept {
        finding it = found.as_finding(reason, "update ratio", how, limit, level);
        it.detail << "target " << target << ": learning rate times " << target / found.measured;
        out.push(it);
    }
};

}  // namespace spotter::inline SPOTTER_ABI
