// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): the recent values of a series, and whether its next value is a spike: shared by loss_spike and
// gradient_spike.
#pragma once

#include <spotter/rule/builtin/median.hpp>

namespace spotter::inline SPOTTER_ABI {

// The parameters of a rule on spikes, under the rule's names.
struct spike_limits {
    std::uint64_t window, min_history, persistence, horizon, relearn;  // values; relearn 0: never
    double threshold;                                                  // robust deviations
    double relative_floor;                                             // smallest deviation, times |median|
    double absolute_floor;                                             // smallest deviation
    bool logarithmic;  // the values are logarithms: ten times is + ln 10
};

// Add finite values only. Allocates once.
class spike_history {
public:
    static constexpr std::string_view measure = "robust deviations above the median";  // of a finding

    struct judgement {                   // of one value
        truth spike = truth::undecided;  // undecided while there are too few values before it
        // Note for a single spike; warning where spikes persist; error beyond ten times the largest of the window.
        severity level = severity::info;
        double value = 0, median = 0, deviations = 0;  // deviations: robust ones, above the median of the values before
                                                       // it
    };

    // False where memory is exhausted. Series may share `scratch`.
    [[nodiscard]] constexpr bool keep(spike_limits const& by, slot_array<std::uint64_t>& scratch) noexcept {
        recent_values const& all = accepted_.values();
        return accepted_.keep(by.window) && scratch.grow(all.capacity()) &&
               (by.relearn == 0 || spikes_.keep(by.relearn));
    }
    constexpr void clear() noexcept {
        accepted_.clear();
        spikes_.clear();
        recent_ = 0;
    }
    // Compares a value with those before it; the value enters the window unless it is a spike. A spike must also rise
    // more than `least_rise` above the median.
    [[nodiscard]] constexpr judgement judge(double value, spike_limits const& by, double least_rise,
                                            slot_array<std::uint64_t>& scratch) noexcept {
        judgement found;
        found.value = value;
        bool const enough = accepted_.size() > 0 && (accepted_.size() >= by.min_history || accepted_.full());
        if (!enough) {
            accepted_.add(value);
            return found;
        }
        found.spike = truth_of(stands_out(by, least_rise, scratch, found));
        recent_ = recent_ << 1U | (found.spike == truth::yes ? 1U : 0U);
        if (found.spike == truth::yes) {
            found.level = level_of(value, by);
            spikes_.add(value);
            if (by.relearn > 0 && spikes_.size() >= by.relearn) { relearn(); }
        } else {
            spikes_.clear();
            accepted_.add(value);
        }
        return found;
    }

private:
    [[nodiscard]] SPOTTER_STRICT constexpr bool stands_out(spike_limits const& by, double least_rise,
                                                           slot_array<std::uint64_t>& scratch,
                                                           judgement& found) const noexcept {
        SPOTTER_STRICT_BODY
        if (is_ordinary(by, least_rise, found.value)) { return false; }
        found.median = accepted_.median();
        double const rise = found.value - found.median;
        if (is_usual(by, found.median, rise)) { return false; }
        double const deviation =
            median_of(accepted_.values(), scratch, [&](double value) { return magnitude(value - found.median); });
        double scale = 1.4826 * deviation;
        double const least = by.relative_floor * magnitude(found.median);
        scale = scale > least ? scale : least;
        scale = scale > by.absolute_floor ? scale : by.absolute_floor;
        found.deviations = rise / scale;
        return found.deviations > by.threshold && rise > least_rise;
    }
    // A shortcut for most values, without a median. A spike exceeds the median by more than `threshold` times the
    // smallest deviation. So it also exceeds each value of the lower half by that much, computed from that value.
    [[nodiscard]] SPOTTER_STRICT constexpr bool is_ordinary(spike_limits const& by, double least_rise,
                                                            double value) const noexcept {
        SPOTTER_STRICT_BODY
        double const factor = by.threshold * by.relative_floor;
        if (!(by.threshold >= 0 && least_rise >= 0 && factor >= 0 && factor < 1)) { return false; }
        std::size_t const half = accepted_.size() / 2;
        // If no value is negative, the limit grows with the value that it is computed from, whatever the rounding.
        bool const in_order = !(factor > 0) || !(accepted_.ranked(0) < 0);
        if (in_order) {
            return half > 0 && !(value > accepted_.ranked(half - 1) + factor * magnitude(accepted_.ranked(half - 1)));
        }
        std::size_t below = 0;
        for (double const each : accepted_.values().unordered()) {
            below += value > each + factor * magnitude(each) ? 1U : 0U;
        }
        return below < half;
    }
    // A shortcut without the MAD: a spike's rise exceeds `threshold` times the median distance from the median, so it
    // exceeds that limit for more than half of the distances.
    [[nodiscard]] SPOTTER_STRICT constexpr bool is_usual(spike_limits const& by, double median,
                                                         double rise) const noexcept {
        SPOTTER_STRICT_BODY
        if (!(by.threshold >= 0)) { return false; }
        std::size_t closer = 0;
        for (double const each : accepted_.values().unordered()) {
            closer += rise > by.threshold * (1.4826 * magnitude(each - median)) ? 1U : 0U;
        }
        return closer < accepted_.size() / 2;
    }
    [[nodiscard]] SPOTTER_STRICT constexpr severity level_of(double value, spike_limits const& by) const noexcept {
        SPOTTER_STRICT_BODY
        recent_values const& all = accepted_.values();
        double most = by.logarithmic ? all[0] : magnitude(all[0]);
        for (std::size_t i = 1; i < all.size(); ++i) {
            double const each = by.logarithmic ? all[i] : magnitude(all[i]);
            most = each > most ? each : most;
        }
        if (value > (by.logarithmic ? most + 2.302585092994045684 : 10 * most)) { return severity::error; }
        std::uint64_t const last = by.horizon < 64 ? recent_ & ((std::uint64_t{1} << by.horizon) - 1) : recent_;
        return static_cast<std::uint64_t>(std::popcount(last)) >= by.persistence ? severity::warning : severity::info;
    }
    // Takes the spikes for the new level.
    constexpr void relearn() noexcept {
        accepted_.clear();
        for (std::size_t i = 0; i < spikes_.size(); ++i) { accepted_.add(spikes_[i]); }
        spikes_.clear();
    }

    sorted_values accepted_;
    recent_values spikes_;
    std::uint64_t recent_ = 0;  // one bit for each judged value, the newest lowest: it was a spike
};

}  // namespace spotter::inline SPOTTER_ABI
