// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a net in service gets data unlike those that it was trained for. docs/rules.md#drift
#pragma once

#include <spotter/rule/builtin/judging.hpp>
#include <spotter/rule/healthy_range.hpp>

namespace spotter::inline SPOTTER_ABI {

// Warning when, in mode predict, the mean of a statistic over a tensor's last observations lies outside its healthy
// range by more than `margin` times the range's width. The envelope holds the range of such means on data that the net
// was made for. It also decides on the number of observations and on the statistics: `learn_envelope(runs, {mean,
// stddev}, {.window = 32})`. Undecided until that many observations were seen, and where the envelope has no range for
// the tensor in mode predict. Values that are not finite are left out. Works in a hook and in any replay. `healthy`
// must outlive the rule.
struct drift {
    using kind = rule_kind;
    static constexpr std::string_view name = "drift";
    static constexpr std::string_view remedy =
        "Look at the inputs that came since: if they are to be served, label some of them and train on them too.";
    static constexpr mode judged_in = mode::predict;

    selector select = &select::everything;
    healthy_table const* healthy = nullptr;  // `&envelope`, learned with a window; required
    double margin = 1.5;                     // in widths of the range, at either end

    struct kept {
        std::span<healthy_series const> known;
        slot_array<recent_mean> means;  // one for each series of the envelope
    };
    struct furthest : judged_value {       // the statistic that is furthest outside
        statistic of{statistic_id::mean};  // which one
        healthy_range range{};             // as learned
        double limit = 0;                  // the end of the widened range that was crossed
        double excess = 0;                 // distance beyond the range, in its widths
        bool above = false;                // above the upper end
    };
    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        stats_mask wanted = stats_mask::none;
        if (healthy == nullptr || healthy->window < 2 || !select(tensor)) { return wanted; }
        for (healthy_series const& each : healthy->of(tensor.name)) {
            if (is_known(each)) { wanted |= each.of.needs() | stats_mask::nonfinite; }
        }
        return wanted;
    }
    [[nodiscard]] constexpr std::string_view gap(tensor_info const& tensor) const noexcept {
        if (!select(tensor)) { return {}; }
        if (healthy == nullptr) { return "parameter healthy not set"; }
        if (healthy->window < 2) { return "the envelope is of single observations: learn it with a window"; }
        for (healthy_series const& each : healthy->of(tensor.name)) {
            if (is_known(each)) { return {}; }
        }
        return "the envelope does not know some of the tensors in mode predict";
    }
    [[nodiscard]] constexpr bool prepare(kept& mine, tensor_info const& tensor) const noexcept {
        mine.known = healthy->of(tensor.name);
        return mine.means.grow(mine.known.size());
    }
    [[nodiscard]] constexpr furthest judge(kept& mine, observation const& it) const noexcept {
        furthest worst;
        for (std::size_t i = 0; i < mine.known.size(); ++i) {
            healthy_series const& each = mine.known[i];
            if (!is_known(each) || (!each.of.is_count() && it.stats.finite() == 0)) { continue; }
            measurement const now = each.of(it.stats);
            if (!now.known || !is_finite(now.value)) { continue; }
            recent_mean& recent = mine.means[i];
            recent.add(now.value, healthy->window);
            if (recent.full(healthy->window)) { compare(each, recent.value, worst); }
        }
        return worst;
    }
    [[nodiscard]] constexpr finding tell(violation const& who, furthest const& first) const noexcept {
        finding it = who.as_finding(first.above ? "above what it was made for" : "below what it was made for",
                                    first.of.name(), first.above ? relation::greater : relation::less, first.limit);
        it.detail << "mean over " << healthy->window << " observations; healthy: " << first.range.low << " to "
                  << first.range.high;
        return it;
    }
    [[nodiscard]] constexpr std::string_view silence() const noexcept {
        return "warm-up not reached: fewer observations in mode predict than the envelope's window";
    }

private:
    [[nodiscard]] static constexpr bool is_known(healthy_series const& it) noexcept {
        return it.mode == mode::predict && !it.phases.empty() && it.phases[0].count > 0;
    }
    // A range without a width gets one: a millionth of its ends.
    [[nodiscard]] SPOTTER_STRICT static constexpr double width_of(healthy_range const& it) noexcept {
        SPOTTER_STRICT_BODY
        double const low = magnitude(it.low), high = magnitude(it.high);
        double const least = 1e-6 * (low > high ? low : high);
        return it.high - it.low > least ? it.high - it.low : least;
    }
    // Keeps the statistic that is furthest beyond its range.
    SPOTTER_STRICT constexpr void compare(healthy_series const& with, double now, furthest& worst) const noexcept {
        SPOTTER_STRICT_BODY
        healthy_range const& range = with.phases[0];
        double const width = width_of(range), room = margin * width;
        bool const above = now > range.high;
        double const beyond = above ? now - range.high : range.low - now;
        double const excess = !(beyond > 0) ? 0 : width > 0 ? beyond / width : 1e300;
        if (excess > margin && excess > worst.excess) {
            worst = {
                judged_value{now, true}, with.of, range, above ? range.high + room : range.low - room, excess, above};
        } else if (worst.holds == truth::undecided) {
            worst.holds = truth::no;
        }
    }
};

}  // namespace spotter::inline SPOTTER_ABI
