// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): steps that take far longer than the others. docs/rules.md#step_time_outlier
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/median.hpp>
#include <spotter/rule/builtin/once_a_step.hpp>
#include <spotter/rule/builtin/streaks.hpp>

namespace spotter::inline SPOTTER_ABI {

// An outlier is above median + k * 1.4826 MAD and above factor * median of the up to `window` times before it, in the same mode; all
// times enter the window, since the median tolerates them. Info; warning where more than `share` of the last `horizon` were
// outliers, this one included. Of a time seen several times in a step the first counts. Every mode, each for itself.
struct step_time_outlier {
    using kind = rule_kind;
    static constexpr std::string_view name = "step_time_outlier";
    static constexpr std::string_view remedy = "Look at checkpoints, evaluation or the named rank at the named step.";

    selector select = "time/step";
    std::uint64_t window = 128;      // times
    double k = 5;                    // robust standard deviations
    std::uint64_t min_history = 20;  // times
    double factor = 1.5;             // times the median
    double share = 0.05;             // fraction of the horizon
    std::uint64_t horizon = 100;     // judged times

    struct series {
        recent_values times, outliers;  // an outlier is 1, another time 0
    };
    struct state {
        slots<series> all;  // by tensor and mode
        slots<std::uint64_t> scratch;
        once_a_step counted;
        close_answer answer;
        bool often = false;
        double limit = 0;  // that the blamed one is above
    };

    [[nodiscard]] constexpr terms needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? terms::sum | terms::nonfinite : terms::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        std::size_t const first = tensor.id * mode_count;
        bool room = seen.all.grow(first + mode_count);
        for (std::size_t i = first; room && i < first + mode_count; ++i) {
            room = keep_sortable(seen.all[i].times, window, seen.scratch) && seen.all[i].outliers.keep(horizon);
        }
        return room && seen.counted.declare(tensor);
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        std::size_t const place = it.tensor.id * mode_count + index_of(it.step.mode);
        measurement const time = mean(it.stats);
        if (!seen.all.holds(place) || !time.known || !seen.counted.first(it)) { return; }
        series& mine = seen.all[place];
        if (mine.times.size() >= min_history && mine.times.size() > 0) {
            double const limit = limit_over(mine.times, seen.scratch);
            bool const outlier = time.value > limit;
            mine.outliers.add(outlier ? 1 : 0);
            seen.answer.judged = true;
            if (outlier) {
                if (seen.answer.found.count == 0) { seen.limit = limit; }
                seen.often = seen.often || is_often(mine.outliers);
                seen.answer.found.blame(it, time.value);
            }
        }
        mine.times.add(time.value);
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        seen.counted.next_close();
        culprit found;
        truth const answer = seen.answer.take(found);
        bool const often = std::exchange(seen.often, false);
        if (answer == truth::yes) {
            finding it = found.as_finding("time of the step", relation::greater, seen.limit,
                                          often ? severity::warning : severity::info);
            it.reason = often ? "steps often take too long" : "step took too long";
            out.push(it);
        }
        return answer;
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "warm-up not reached: fewer than `min_history` times";
    }

private:
    [[nodiscard]] SPOTTER_STRICT constexpr double limit_over(recent_values const& times,
                                                             slots<std::uint64_t>& scratch) const noexcept {
        SPOTTER_STRICT_BODY
        if (!scratch.grow(times.size())) { return 1e308; }
        // Of an even count the mean of the two in the middle, so that times which alternate are no outliers of each other.
        double const median = median_of(times, scratch, [](double time) { return time; });
        double above = k * 1.4826 * median_of(times, scratch, [&](double time) { return magnitude(time - median); });
        settle(above);
        double const spread = median + above;
        double const multiple = factor * median;
        return spread > multiple ? spread : multiple;
    }
    // Of the whole horizon, though it may not be full: a few outliers at the start are not often.
    [[nodiscard]] SPOTTER_STRICT constexpr bool is_often(recent_values const& outliers) const noexcept {
        SPOTTER_STRICT_BODY
        double count = 0;
        for (std::size_t i = 0; i < outliers.size(); ++i) { count += outliers[i]; }
        return count > share * static_cast<double>(horizon);
    }
};

}  // namespace spotter::inline SPOTTER_ABI
