// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): steps that take far longer than the others. docs/rules.md#step_time_outlier
#pragma once

#include <spotter/rule/builtin/judging.hpp>
#include <spotter/rule/builtin/median.hpp>

namespace spotter::inline SPOTTER_ABI {

// An outlier is above median + k * 1.4826 MAD and above factor * median of the up to `window` times before it, in the
// same mode. All times enter the window, since the median tolerates outliers. An outlier is a note; a warning where
// more than `share` of the last `horizon` times were outliers, this one included. Of several times in a step the first
// counts. Each mode is judged separately.
struct step_time_outlier {
    using kind = rule_kind;
    static constexpr std::string_view name = "step_time_outlier";
    static constexpr std::string_view remedy = "Look at checkpoints, evaluation or the named rank at the named step.";
    static constexpr bool reads_times = true;

    selector select = "time/step";
    std::uint64_t window = 128;      // times
    double k = 5;                    // robust standard deviations
    std::uint64_t min_history = 20;  // times
    double factor = 2;               // times the median; a core whose other hyperthread is busy stays below it
    double share = 0.05;             // fraction of the horizon
    std::uint64_t horizon = 100;     // judged times

    struct kept : once_a_step {
        struct series {
            recent_values times, outliers;  // an outlier is 1, another time 0
        } by_mode[mode_count];
    };
    struct scratch {
        slot_array<std::uint64_t> keys;
    };
    struct outlier : judged_value {  // a time that is too long
        double limit = 0;            // the limit that it exceeds
        bool often = false;          // more than the rule's `share` of the last times were: a warning
        // If several tensors fire at one close, one frequent one makes it a warning.
        constexpr void join(outlier const& other) noexcept { often = often || other.often; }
    };
    static constexpr stats_mask watched = stats_mask::sum | stats_mask::nonfinite;
    [[nodiscard]] constexpr bool prepare(kept& mine, scratch& own, tensor_info const&) const noexcept {
        for (auto& each : mine.by_mode) {
            if (!keep_sortable(each.times, window, own.keys) || !each.outliers.keep(horizon)) { return false; }
        }
        return true;
    }
    [[nodiscard]] constexpr outlier judge(kept& all, scratch& own, observation const& it) const noexcept {
        measurement const time = mean(it.stats);
        if (!time.known || !all.first()) { return {}; }
        auto& mine = all.by_mode[index_of(it.step.mode)];
        outlier found;
        if (mine.times.size() > 0 && (mine.times.size() >= min_history || mine.times.full())) {
            double const limit = limit_over(mine.times, own.keys);
            bool const holds = time.value > limit;
            mine.outliers.add(holds ? 1 : 0);
            found = {judged_value{time.value, holds}, limit, holds && is_often(mine.outliers)};
        }
        mine.times.add(time.value);
        return found;
    }
    [[nodiscard]] constexpr finding tell(violation const& who, outlier const& first) const noexcept {
        return who.as_finding(first.often ? "steps often take too long" : "step took too long", "time of the step",
                              relation::greater, first.limit, first.often ? severity::warning : severity::info);
    }
    [[nodiscard]] constexpr std::string_view silence() const noexcept {
        return "warm-up not reached: fewer than `min_history` times";
    }

private:
    [[nodiscard]] SPOTTER_STRICT constexpr double limit_over(recent_values const& times,
                                                             slot_array<std::uint64_t>& keys) const noexcept {
        SPOTTER_STRICT_BODY
        if (!keys.grow(times.size())) { return 1e308; }
        // For an even number of values the mean of the two in the middle, so that alternating times are not outliers of
        // each other.
        double const median = median_of(times, keys, [](double time) { return time; });
        double above = k * 1.4826 * median_of(times, keys, [&](double time) { return magnitude(time - median); });
        force_rounding(above);
        double const spread = median + above;
        double const multiple = factor * median;
        return spread > multiple ? spread : multiple;
    }
    // A share of the whole horizon even while it is not full: a few outliers at the start are not frequent.
    [[nodiscard]] SPOTTER_STRICT constexpr bool is_often(recent_values const& outliers) const noexcept {
        SPOTTER_STRICT_BODY
        double count = 0;
        for (std::size_t i = 0; i < outliers.size(); ++i) { count += outliers[i]; }
        return count > share * static_cast<double>(horizon);
    }
};

}  // namespace spotter::inline SPOTTER_ABI
