// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a batch size far from the one that the gradient noise suggests.
// docs/rules.md#gradient_noise_scale
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/per_tensor.hpp>
#include <spotter/rule/machine.hpp>
#include <spotter/stat/statistic.hpp>

namespace spotter::inline SPOTTER_ABI {

// Computed from the squared norms s and b of gradients over batches of B_s and B_b samples: |G|^2 = (B_b b - B_s s) /
// (B_b - B_s) and S = (s - b) / (1/B_s - 1/B_b). Each is averaged over steps; then B = S / |G|^2 is the simple noise
// scale (McCandlish et al. 2018, appendix A). Note when batch_big is below B / ratio (a larger batch would pay) or
// above B * ratio (a smaller one would do), after `warmup` steps. Undecided where the averages give |G|^2 <= 0 or S <
// 0. Train steps only.
struct gradient_noise_scale {
    using kind = rule_kind;
    static constexpr std::string_view name = "gradient_noise_scale";
    static constexpr std::string_view remedy = "Change the batch size towards the measured value.";
    static constexpr mode judged_in = mode::train;

    selector select = "metric/grad_sq_small";  // s: squared norm of the gradient over the small batch
    selector big = "metric/grad_sq_big";       // b: over the large batch, at the same step
    double batch_small = 0;                    // samples; required
    double batch_big = 0;                      // samples, more than batch_small; required
    double beta = 0.99;                        // weight of the past in the averages
    double ratio = 10;                         // largest factor between the batch size and B, either way
    std::uint64_t warmup = 100;                // steps

    // Exponential average, corrected for its start.
    struct average {
        double weighted = 0, weight = 0;  // sum of weighted values; sum of weights
        // `kept`: the weight of the past.
        SPOTTER_STRICT constexpr void add(double x, double kept) noexcept {
            SPOTTER_STRICT_BODY
            double old = kept * weighted, fresh = (1 - kept) * x, old_weight = kept * weight;
            force_rounding(old), force_rounding(fresh), force_rounding(old_weight);
            weighted = old + fresh;
            weight = old_weight + (1 - kept);
        }
        // The average, corrected for its start.
        [[nodiscard]] SPOTTER_STRICT constexpr double value() const noexcept {
            SPOTTER_STRICT_BODY
            return weighted / weight;
        }
    };
    struct squared_norm {    // as observed in the loop
        double value = 0;    // of this step
        bool known = false;  // at this step
    };
    struct state {
        per_tensor<bool> small_batch;  // by tensor id; false: the large batch
        std::string_view tensor{};
        squared_norm s, b;
        average signal, noise;  // |G|^2 and S
        std::uint64_t steps = 0;
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? stats_mask::sum : stats_mask::none;
    }
    [[nodiscard]] constexpr stats_mask context(tensor_info const& tensor) const noexcept {
        return big(tensor) ? stats_mask::sum : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        if (seen.small_batch.declare(tensor) == nullptr) { return false; }
        seen.small_batch[tensor.id] = select(tensor);
        if (select(tensor)) { seen.tensor = tensor.name; }
        return true;
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        measurement const square = mean(it.stats);
        if (it.step.mode != mode::train || !square.known || seen.small_batch.find(it.tensor.id) == nullptr) { return; }
        (seen.small_batch[it.tensor.id] ? seen.s : seen.b) = {square.value, true};
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        squared_norm const s = std::exchange(seen.s, {}), b = std::exchange(seen.b, {});
        if (!given() || !s.known || !b.known) { return truth::undecided; }
        seen.signal.add(signal_of(s.value, b.value), beta);
        seen.noise.add(noise_of(s.value, b.value), beta);
        if (++seen.steps <= warmup) { return truth::undecided; }
        double const signal = seen.signal.value(), noise = seen.noise.value();
        if (!(signal > 0) || noise < 0) { return truth::undecided; }
        double const best = scale_of(noise, signal);
        bool const low = batch_big<best / ratio, high = batch_big> best * ratio;
        if (!low && !high) { return truth::no; }
        violation const found{.tensor = seen.tensor, .measured = best, .count = 1};
        out.push(found.as_finding(low ? "a larger batch would pay" : "a smaller batch would do", "gradient noise scale",
                                  low ? relation::greater : relation::less, low ? batch_big * ratio : batch_big / ratio,
                                  severity::info));
        return truth::yes;
    }
    [[nodiscard]] constexpr pattern_fault malformed() const noexcept {
        return select.malformed().empty() ? big.malformed() : select.malformed();
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return !(batch_small > 0)           ? "parameter batch_small not set"
               : !(batch_big > batch_small) ? "parameter batch_big not set, or not above batch_small"
                                            : "warm-up not reached, or no estimate with a positive signal";
    }

    // |G|^2 of one step: noisy, and not always positive.
    [[nodiscard]] SPOTTER_STRICT constexpr double signal_of(double s, double b) const noexcept {
        SPOTTER_STRICT_BODY
        double all = batch_big * b, part = batch_small * s;
        force_rounding(all), force_rounding(part);
        return (all - part) / (batch_big - batch_small);
    }
    // S of one step: the trace of the gradient's covariance for one sample.
    [[nodiscard]] SPOTTER_STRICT constexpr double noise_of(double s, double b) const noexcept {
        SPOTTER_STRICT_BODY
        return (s - b) / (1 / batch_small - 1 / batch_big);
    }

private:
    [[nodiscard]] constexpr bool given() const noexcept { return batch_small > 0 && batch_big > batch_small; }
    [[nodiscard]] SPOTTER_STRICT static constexpr double scale_of(double noise, double signal) noexcept {
        SPOTTER_STRICT_BODY
        return noise / signal;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
