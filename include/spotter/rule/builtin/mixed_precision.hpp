// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): gradients that underflow in a low-precision backward pass, and loss scales that collapse.
// docs/rules.md#mixed_precision
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/exponent_counts.hpp>
#include <spotter/rule/builtin/once_a_step.hpp>
#include <spotter/rule/builtin/per_tensor.hpp>
#include <spotter/rule/builtin/precision_limits.hpp>
#include <spotter/rule/builtin/streaks.hpp>
#include <spotter/rule/series.hpp>
#include <spotter/stat/statistic.hpp>

namespace spotter::inline SPOTTER_ABI {

// Judges the gradients as the backward pass in format `to` had them. They are observed unscaled, so the rule multiplies
// them by the loss scale (1 until one is observed; observe it before the gradients).
// - Underflow: more than `max_underflow` of the non-zero elements round to zero, `patience` times in a row: warning.
// - Overflow: an element is not finite, or would not be in `to`: note, since loss scaling skips such a step.
// - The loss scale falls to `min_scale` from above it: error.
// - More than `max_skip` of the last `skip_window` steps were skipped: warning.
// Train steps only.
struct mixed_precision {
    using kind = rule_kind;
    static constexpr std::string_view name = "mixed_precision";
    static constexpr std::string_view remedy = "Raise the loss scale or keep master weights in f32.";
    static constexpr mode judged_in = mode::train;

    selector select = role::gradient;
    selector loss_scale = "metric/loss_scale";      // the factor of the loss
    selector step_skipped = "metric/step_skipped";  // 0, or 1 where the step was skipped
    dtype to = dtype::f16;                          // f16, bf16, f8_e4m3 or f8_e5m2
    double max_underflow = 0.1;                     // fraction of the non-zero elements
    std::uint64_t patience = 10;                    // observations of a gradient
    double min_scale = 1;                           // error when the loss scale falls to it
    double max_skip = 0.01;            // fraction of the window; a scaler that grows every 2000 steps skips 0.0005
    std::uint64_t skip_window = 1000;  // steps; 0: skips are not judged

    // The role of a tensor for the rule.
    enum class part : std::uint8_t { none, gradient, scale, skipped };
    struct series : once_a_step {  // of one tensor
        part what = part::none;
        detail::streak underflows;  // number of closes in a row with underflow
    };
    struct state {
        per_tensor<series> all;
        recent_values skips;  // 1 for a step that was skipped
        std::uint64_t close = 1;
        double scale = 1, largest_scale = 0, skipped = 0;  // `skipped`: steps of the window that were skipped
        std::uint64_t not_finite = 0;                      // elements of the gradient that is blamed for overflow
        bool judged = false;
        violation underflow, overflow, collapse, skipping;
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        switch (part_of(tensor)) {
            case part::gradient:
                return stats_mask::feature | stats_mask::abs_range | stats_mask::nonfinite;
            case part::scale:
            case part::skipped:
                return stats_mask::sum;
            case part::none:
                break;
        }
        return stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        if (seen.all.declare(tensor) == nullptr) { return false; }
        seen.all[tensor.id].what = part_of(tensor);
        return seen.all[tensor.id].what != part::skipped || seen.skips.keep(skip_window);
    }
    [[nodiscard]] constexpr std::uint64_t feature_key() const noexcept { return exponent_counts::key(); }
    constexpr void extract(state&, observation const&, tensor_ref const& values, feature& out) const noexcept {
        exponent_counts::extract(values, out);
    }
    constexpr void observe(state& seen, observation const& it, std::span<double const> made) const noexcept {
        if (it.step.mode != mode::train || seen.all.find(it.tensor.id) == nullptr) { return; }
        measurement const value = mean(it.stats);
        switch (series& mine = seen.all[it.tensor.id]; mine.what) {
            case part::gradient:
                return judge_gradient(seen, it, {made});
            case part::scale:
                return value.known ? judge_scale(seen, it, value.value) : void();
            case part::skipped:
                return value.known && mine.first(seen.close) ? judge_skip(seen, it, value.value != 0) : void();
            case part::none:
                break;
        }
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        ++seen.close;
        bool const overflows = seen.overflow.count > 0;
        bool fired = tell(seen.collapse, "loss scale collapsed", "loss scale", relation::less_equal, min_scale,
                          severity::error, out);
        fired |= tell(seen.underflow, "gradients underflow", "share of underflow", relation::greater, max_underflow,
                      severity::warning, out);
        fired |= tell(seen.skipping, "many steps are skipped", "share of skipped steps", relation::greater, max_skip,
                      severity::warning, out);
        precision_limits const limits = precision_limits::of(to);
        if (overflows && !limits.overflows(seen.overflow.measured)) {
            // After an overflow the original size is lost.
            seen.overflow.measured = static_cast<double>(seen.not_finite);
            fired |= tell(seen.overflow, "gradients overflow", "non-finite elements", relation::greater, 0,
                          severity::info, out);
        } else {
            fired |= tell(seen.overflow, "gradients overflow", "largest scaled element",
                          limits.exclusive ? relation::greater : relation::greater_equal, limits.overflow,
                          severity::info, out);
        }
        if (overflows && seen.not_finite > 0 && !out.empty()) {
            out[out.size() - 1].detail << seen.not_finite << (seen.not_finite == 1 ? " element is" : " elements are")
                                       << " not finite";
        }
        bool const judged = std::exchange(seen.judged, false);
        return fired ? truth::yes : judged ? truth::no : truth::undecided;
    }
    [[nodiscard]] constexpr pattern_fault malformed() const noexcept {
        return !select.malformed().empty()       ? select.malformed()
               : !loss_scale.malformed().empty() ? loss_scale.malformed()
                                                 : step_skipped.malformed();
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return precision_limits::of(to).known ? "no gradient with a non-zero finite element"
                                              : "parameter `to` is no low-precision type";
    }

private:
    [[nodiscard]] constexpr part part_of(tensor_info const& tensor) const noexcept {
        return loss_scale(tensor)     ? part::scale
               : step_skipped(tensor) ? part::skipped
               : select(tensor)       ? part::gradient
                                      : part::none;
    }
    constexpr void judge_gradient(state& seen, observation const& it, exponent_counts const& counts) const noexcept {
        precision_limits const limits = precision_limits::of(to);
        if (!limits.known) { return; }
        double const largest = scaled(it.stats.abs_maximum, seen.scale);
        if (it.stats.nonfinite() > 0 || limits.overflows(largest)) {
            if (seen.overflow.count == 0) { seen.not_finite = it.stats.nonfinite(); }
            seen.overflow.blame(it, largest);
        }
        if (counts.empty()) { return; }
        double const share = counts.share_up_to(limits.underflow - exponent_counts::exponent_of(seen.scale));
        seen.judged = true;
        bool const lost = share > max_underflow;
        bool const lasts =
            seen.all[it.tensor.id].underflows.count(it.step.mode, seen.close, truth_of(lost)) >= patience;
        if (lost && lasts) { seen.underflow.blame(it, share); }
    }
    constexpr void judge_scale(state& seen, observation const& it, double scale) const noexcept {
        seen.judged = true;
        seen.largest_scale = scale > seen.largest_scale ? scale : seen.largest_scale;
        if (scale > 0) { seen.scale = scale; }
        if (scale <= min_scale && seen.largest_scale > min_scale) { seen.collapse.blame(it, scale); }
    }
    constexpr void judge_skip(state& seen, observation const& it, bool skipped) const noexcept {
        seen.judged = true;
        if (seen.skips.full()) { seen.skipped -= seen.skips[0]; }
        seen.skips.add(skipped ? 1 : 0);
        seen.skipped += skipped ? 1 : 0;
        // A share of the whole window even while it is not full: the scaler skips steps at first, to find the scale.
        double const share = detail::quotient(seen.skipped, static_cast<double>(skip_window));
        if (skip_window > 0 && share > max_skip) { seen.skipping.blame(it, share); }
    }
    [[nodiscard]] SPOTTER_STRICT static constexpr double scaled(double size, double scale) noexcept {
        SPOTTER_STRICT_BODY
        return size * scale;
    }
    static constexpr bool tell(violation& who, std::string_view reason, std::string_view measure, relation how,
                               double limit, severity level, findings& out) noexcept {
        return std::exchange(who, {}).tell(out, reason, measure, how, limit, level);
    }
};

}  // namespace spotter::inline SPOTTER_ABI
