// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): slow steps, by the criterion of Amazon SageMaker Debugger. docs/rules.md#step_outlier
#pragma once

#include <spotter/core/bits.hpp>
#include <spotter/core/casts.hpp>
#include <spotter/rule/builtin/judging.hpp>

namespace spotter::inline SPOTTER_ABI {

// Warning when more than `n_outliers` steps of the whole run took longer than mean + `stddev` standard deviations of
// all steps so far; judges after `patience` steps. For users who have limits for Amazon's rule. It has two faults that
// step_time_outlier avoids: outliers inflate the deviation, and a count over the whole run fires eventually in every
// long run. Each mode is judged separately.
struct step_outlier {
    using kind = rule_kind;
    static constexpr std::string_view name = "step_outlier";
    static constexpr std::string_view remedy = "Look at checkpoints, evaluation or the named rank at the named step.";
    static constexpr bool reads_times = true;

    selector select = "time/step";
    double stddev = 3;              // standard deviations; Amazon's guide has 5, its SDK 3
    std::uint64_t n_outliers = 10;  // steps of the whole run, at most 1000
    std::uint64_t patience = 100;   // steps
    static constexpr bool counts_patience = true;

    [[nodiscard]] static constexpr step_outlier sagemaker_defaults() noexcept { return {}; }

    // More than n values are above a limit if the (n + 1)-th largest is, so only that many are kept.
    struct kept : once_a_step {
        struct series {
            std::uint64_t count = 0;
            double mean = 0, squares = 0;  // Welford 1962
            std::size_t held = 0;
            slot_array<double> largest;  // descending
        } by_mode[mode_count];
    };
    static constexpr stats_mask watched = stats_mask::sum | stats_mask::nonfinite;
    [[nodiscard]] constexpr bool prepare(kept& mine, tensor_info const&) const noexcept {
        for (auto& each : mine.by_mode) {
            if (!each.largest.grow(room())) { return false; }
        }
        return true;
    }
    [[nodiscard]] SPOTTER_STRICT constexpr judged_value judge(kept& all, observation const& it) const noexcept {
        SPOTTER_STRICT_BODY
        measurement const time = spotter::mean(it.stats);
        if (!time.known || !all.first()) { return {}; }
        auto& mine = all.by_mode[index_of(it.step.mode)];
        double const apart = time.value - mine.mean;
        mine.mean += apart / static_cast<double>(++mine.count);
        double square = apart * (time.value - mine.mean);
        force_rounding(square);
        mine.squares += square;
        put(mine, time.value);
        if (mine.count <= patience || mine.held < room()) { return {}; }
        double const spread = mine.squares > 0 ? square_root(mine.squares / static_cast<double>(mine.count)) : 0;
        double room_above = stddev * spread;
        force_rounding(room_above);
        double const least = mine.largest[room() - 1];
        return {least, least > mine.mean + room_above};
    }
    [[nodiscard]] constexpr finding tell(violation const& who) const noexcept {
        return who.as_finding("many steps took too long", "least time of the slow steps", relation::none,
                              static_cast<double>(room() - 1));
    }
    [[nodiscard]] constexpr std::string_view silence() const noexcept {
        return "warm-up not reached: `patience` steps";
    }

private:
    [[nodiscard]] constexpr std::size_t room() const noexcept {
        return as_size(n_outliers < 1000 ? n_outliers : 1000) + 1;
    }
    constexpr void put(kept::series& mine, double time) const noexcept {
        if (mine.held == room() && !(time > mine.largest[mine.held - 1])) { return; }
        std::size_t place = mine.held < room() ? mine.held++ : mine.held - 1;
        for (; place > 0 && mine.largest[place - 1] < time; --place) { mine.largest[place] = mine.largest[place - 1]; }
        mine.largest[place] = time;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
