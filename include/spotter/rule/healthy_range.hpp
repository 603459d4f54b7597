// SPDX-License-Identifier: Apache-2.0
// Rule (L2): healthy ranges: the ranges in which the statistics of tensors lay in runs that went well, as plain
// structs.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/step.hpp>
#include <spotter/stat/statistic.hpp>

#include <bit>
#include <span>

namespace spotter::inline SPOTTER_ABI {

// The range of a statistic in one phase of a run. `count` 0: unknown.
struct healthy_range {
    double low = 0, high = 0;  // both ends inclusive
    std::uint64_t count = 0;   // number of values that it was learned from

    friend constexpr bool operator==(healthy_range const&, healthy_range const&) noexcept = default;
};

// A training changes fast at first and slowly later, so its phases double: steps 0 to 63 are phase 0, 64 to 127 phase
// 1, 128 to 255 phase 2.
inline constexpr std::uint64_t first_phase_steps = 64;
// The number of phases that cover every index.
inline constexpr std::size_t phase_count = 59;
[[nodiscard]] constexpr std::size_t phase_of(std::uint64_t index) noexcept {
    return index < first_phase_steps ? 0 : cast_to<std::size_t>(std::bit_width(index)) - 6;
}
// In prediction the net does not change from step to step: all of mode predict is phase 0.
[[nodiscard]] constexpr std::size_t phase_of(step_id at) noexcept {
    return at.mode == mode::predict ? 0 : phase_of(at.index);
}
// The first index of a phase.
[[nodiscard]] constexpr std::uint64_t first_step_of(std::size_t phase) noexcept {
    return phase == 0 ? 0 : first_phase_steps << (phase - 1);
}

// The mean of about `window` recent values, where newer ones weigh more. The first `window` values give the plain mean;
// after those each new value has the weight 1 / window. It is the exponentially weighted mean of control charts
// (Roberts 1959, "Control Chart Tests Based on Geometric Moving Averages", Technometrics 1).
struct recent_mean {
    double value = 0;         // the mean so far
    std::uint64_t count = 0;  // values so far

    // Adds a value.
    SPOTTER_STRICT constexpr void add(double each, std::uint64_t window) noexcept {
        SPOTTER_STRICT_BODY
        ++count;
        value += (each - value) / static_cast<double>(count < window ? count : window);
    }
    // It has taken at least `window` values.
    [[nodiscard]] constexpr bool full(std::uint64_t window) const noexcept { return count >= window; }
};

// One statistic of a tensor in one mode, phase by phase.
struct healthy_series {
    std::string_view tensor{};                  // the tensor's name; lives with the table
    spotter::mode mode = spotter::mode::train;  // the mode in which it was observed
    statistic of{statistic_id::mean};           // which statistic
    std::span<healthy_range const> phases{};    // indexed by phase_of
};

// Sorted by tensor, so that the series of one tensor are adjacent. `envelope` (spotter/replay/envelope.hpp) owns one.
struct healthy_table {
    std::span<healthy_series const> series{};  // a view
    std::uint64_t window = 1;  // the ranges are of the `recent_mean` with this window; 1: of single observations

    // The series of a tensor; empty for an unknown one.
    [[nodiscard]] constexpr std::span<healthy_series const> of(std::string_view tensor) const noexcept {
        std::size_t first = 0, end = series.size();
        while (first < end) {
            std::size_t const middle = first + (end - first) / 2;
            if (series[middle].tensor < tensor) {
                first = middle + 1;
            } else {
                end = middle;
            }
        }
        while (end < series.size() && series[end].tensor == tensor) { ++end; }
        return series.subspan(first, end - first);
    }
};

// Whether the statistic cannot be negative: a norm, a spread, a size or a count.
[[nodiscard]] constexpr bool never_negative(statistic of) noexcept {
    return of.abs || of.id >= statistic_id::nonfinite || of.id == statistic_id::stddev ||
           of.id == statistic_id::variance || of.id == statistic_id::l1 || of.id == statistic_id::l2;
}

// The range with a margin at both ends. A statistic that is never negative may be 1 + margin times smaller or larger.
// Any other may be off by margin times the largest of the range's width and the sizes of its two ends.
[[nodiscard]] SPOTTER_STRICT constexpr healthy_range widened(healthy_range it, statistic of, double margin) noexcept {
    SPOTTER_STRICT_BODY
    if (never_negative(of)) {
        double const factor = 1 + margin;
        it.low /= factor;
        it.high *= factor;
        return it;
    }
    double room = it.high - it.low;
    room = magnitude(it.low) > room ? magnitude(it.low) : room;
    room = magnitude(it.high) > room ? magnitude(it.high) : room;
    room *= margin;
    force_rounding(room);
    it.low -= room;
    it.high += room;
    return it;
}

}  // namespace spotter::inline SPOTTER_ABI
