// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): shared by the rules on a training loss: its smoothed value, its starting value, and whether
// training has settled.
#pragma once

#include <spotter/rule/machine.hpp>
#include <spotter/stat/statistic.hpp>

namespace spotter::inline SPOTTER_ABI {

// A loss is the mean of its finite elements; unknown where there are none, or where their sum overflows.
[[nodiscard]] constexpr measurement loss_of(observation const& it) noexcept {
    measurement loss = mean(it.stats);
    loss.known = loss.known && is_finite(loss.value);
    return loss;
}

// The loss or metric that an observation belongs to, and its mode. `val_loss` counts as `train_loss` in evaluation, in
// whatever mode its step is (docs/rules.md#evaluation-under-a-name-of-its-own).
struct loss_place {
    tensor_id id;  // the tensor; for a `val_loss` its partner
    mode when;     // the step's mode; for a `val_loss` eval
};
// The loss and the mode that an observation counts for.
[[nodiscard]] constexpr loss_place place_of(observation const& it) noexcept {
    bool const alone = it.tensor.partner == no_tensor || it.step.mode == mode::predict;
    return alone ? loss_place{it.tensor.id, it.step.mode} : loss_place{it.tensor.partner, mode::eval};
}

// Exponential average over about k observations, corrected for its start (Kingma & Ba 2015, section 3). With k = 1 it
// is x.
struct smoothed {
    double weighted = 0, weight = 0;  // sum of weighted values; sum of weights
    // Adds a value to the average over about k observations.
    SPOTTER_STRICT constexpr void add(double x,
                                      std::uint64_t k) noexcept {  // exact: a replay in another program decides the
                                                                   // same
        SPOTTER_STRICT_BODY
        double const a = 2.0 / (static_cast<double>(k > 0 ? k : 1) + 1.0);
        double kept = (1 - a) * weighted;
        double added = a * x;
        double kept_weight = (1 - a) * weight;
        force_rounding(kept), force_rounding(added), force_rounding(kept_weight);
        weighted = kept + added;
        weight = kept_weight + a;
    }
    // Requires at least one value.
    [[nodiscard]] SPOTTER_STRICT constexpr double value() const noexcept {
        SPOTTER_STRICT_BODY
        return weighted / weight;
    }
};

// The mean of the added values.
struct running_mean {
    double total = 0;                                                       // of what was added
    std::uint64_t count = 0;                                                // of these
    constexpr void add(double value) noexcept { total += value, ++count; }  // requires a finite number
    // Unknown without values, and where the sum overflows.
    [[nodiscard]] SPOTTER_STRICT constexpr measurement value() const noexcept {
        SPOTTER_STRICT_BODY
        if (count == 0 || !is_finite(total)) { return {}; }
        return {total / static_cast<double>(count), true};
    }
};

// A relative fall in words: "fell by 3 %", "rose by 51.6 %".
constexpr void tell_fall(evidence_text& into, double fall) noexcept {
    into << (fall < 0 ? "rose by " : "fell by ") << 100 * magnitude(fall) << " %";
}

// The trend of one loss. Add finite training losses only.
struct loss_trend {
    static constexpr std::uint64_t first_losses = 10;  // their mean is the starting value L0
    static constexpr std::uint64_t settle_over = 50;   // observations before it can be settled

    std::uint64_t count = 0;  // losses so far
    double first_sum = 0;     // of the first ten
    smoothed settling{};      // over `settle_over` observations
    bool settled = false;     // the smoothed loss has fallen by half of |L0|; stays true

    // Add in the order of observation.
    SPOTTER_STRICT constexpr void add(double loss) noexcept {
        SPOTTER_STRICT_BODY
        if (count < first_losses) { first_sum += loss; }
        ++count;
        settling.add(loss, settle_over);
        settled = settled || (count >= settle_over && settling.value() <= start() - 0.5 * magnitude(start()));
    }
    // The mean of the first ten, or of fewer; requires at least one.
    [[nodiscard]] SPOTTER_STRICT constexpr double start() const noexcept {
        SPOTTER_STRICT_BODY
        return first_sum / static_cast<double>(count < first_losses ? count : first_losses);
    }
};

// The first training loss of a run: context for rules that only report notes once training has settled.
struct settled_context {
    tensor_id loss = no_tensor;  // the first loss observed in training
    loss_trend trend{};          // of that loss

    [[nodiscard]] static constexpr stats_mask needs(tensor_info const& tensor) noexcept {
        return tensor.role == role::loss ? stats_mask::sum : stats_mask::none;
    }
    constexpr void observe(observation const& it) noexcept {
        if (it.tensor.role != role::loss || it.step.mode != mode::train) { return; }
        if (loss == no_tensor) { loss = it.tensor.id; }
        measurement const value = loss_of(it);
        if (loss == it.tensor.id && value.known) { trend.add(value.value); }
    }
    // Once training has settled, a warning becomes a note; other severities stay.
    [[nodiscard]] constexpr severity soften(severity level) const noexcept {
        return trend.settled && level == severity::warning ? severity::info : level;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
