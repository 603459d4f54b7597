// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): statistics outside the range that healthy runs had. docs/rules.md#outside_envelope
#pragma once

#include <spotter/rule/builtin/judging.hpp>
#include <spotter/rule/healthy_range.hpp>

namespace spotter::inline SPOTTER_ABI {

// Warning when a statistic of a tensor lies outside the range that it had in healthy runs, for `patience` judged
// observations in a row. The range is that of the same mode and phase (`phase_of`), widened by `margin`. One statistic
// of the tensor suffices. Undecided where the envelope has no range for the tensor in that mode and phase, where the
// tensor has no finite element, and where the statistic is unknown. The coverage names tensors that the envelope does
// not have. Works in a hook and in any replay. `healthy` must outlive the rule.
struct outside_envelope {
    using kind = rule_kind;
    static constexpr std::string_view name = "outside_envelope";
    static constexpr std::string_view remedy =
        "Compare the run with a healthy one from the named tensor on: data, learning rate, the layers before it.";

    selector select = &select::everything;
    healthy_table const* healthy = nullptr;  // `&envelope`; required
    double margin = 1;                       // 1: a non-negative statistic may be half of the least or twice the
                                             // largest
    std::uint64_t patience = 5;              // observations

    struct kept {
        std::span<healthy_series const> known;
    };
    struct outlier : judged_value {        // the first statistic that is outside
        statistic of{statistic_id::mean};  // which one
        healthy_range range{};             // as learned
        double limit = 0;                  // the end of the widened range that was crossed
        bool above = false;                // above the upper end
        std::size_t phase = 0;             // of the step (`phase_of`)
    };
    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        stats_mask wanted = stats_mask::none;
        if (healthy == nullptr || healthy->window > 1 || !select(tensor)) { return wanted; }
        for (healthy_series const& each : healthy->of(tensor.name)) {
            wanted |= each.of.needs() | stats_mask::nonfinite;
        }
        return wanted;
    }
    [[nodiscard]] constexpr std::string_view gap(tensor_info const& tensor) const noexcept {
        if (!select(tensor)) { return {}; }
        if (healthy == nullptr) { return "parameter healthy not set"; }
        if (healthy->window > 1) {
            return "the envelope is of means over a window, which the rule drift compares with";
        }
        return healthy->of(tensor.name).empty()
                   ? "the envelope does not know some of the tensors: no healthy run has statistics of them"
                   : std::string_view{};
    }
    [[nodiscard]] constexpr bool prepare(kept& mine, tensor_info const& tensor) const noexcept {
        mine.known = healthy->of(tensor.name);
        return true;
    }
    [[nodiscard]] constexpr outlier judge(kept const& mine, observation const& it) const noexcept {
        outlier found;
        std::size_t const phase = phase_of(it.step);
        for (healthy_series const& each : mine.known) {
            if (each.mode != it.step.mode || phase >= each.phases.size() || each.phases[phase].count == 0) { continue; }
            if (!each.of.is_count() && it.stats.finite() == 0) { continue; }
            measurement const now = each.of(it.stats);
            if (!now.known || !is_finite(now.value)) { continue; }
            healthy_range const wide = widened(each.phases[phase], each.of, margin);
            bool const above = now.value > wide.high;
            if (above || now.value < wide.low) {
                return {judged_value{now.value, true}, each.of, each.phases[phase],
                        above ? wide.high : wide.low,  above,   phase};
            }
            found.holds = truth::no;
        }
        return found;
    }
    [[nodiscard]] constexpr finding tell(violation const& who, outlier const& first, step_id at) const noexcept {
        finding it = who.as_finding(first.above ? "above what healthy runs had" : "below what healthy runs had",
                                    first.of.name(), first.above ? relation::greater : relation::less, first.limit);
        it.detail << "healthy: " << first.range.low << " to " << first.range.high << " from " << name_of(at.mode) << '('
                  << first_step_of(first.phase) << ") on";
        return it;
    }
    [[nodiscard]] constexpr std::string_view silence() const noexcept {
        return "the envelope says nothing of the tensors at such steps";
    }
};

}  // namespace spotter::inline SPOTTER_ABI
