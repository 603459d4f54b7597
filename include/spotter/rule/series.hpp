// SPDX-License-Identifier: Apache-2.0
// Rule (L2): series: a statistic of a tensor over its last observations: stalled, rising, unchanged, spike.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/pattern.hpp>
#include <spotter/rule/machine.hpp>
#include <spotter/stat/distribution.hpp>
#include <spotter/stat/statistic.hpp>

namespace spotter::inline SPOTTER_ABI {

// The last values of one series, oldest first. Allocates once.
class recent_values {
public:
    // Reserves room for `most` values (at least 2). False where memory is exhausted.
    [[nodiscard]] constexpr bool keep(std::uint64_t most) noexcept {
        constexpr std::uint64_t limit = 1U << 20;
        most = most < 2 ? 2 : most > limit ? limit : most;
        if (!ring_.grow(as_size(most))) { return false; }
        most_ = as_size(most);
        return true;
    }
    // The oldest value is dropped where there is no room.
    constexpr void add(double value) noexcept {
        if (most_ == 0) { return; }
        ring_[next_] = value;
        next_ = next_ + 1 == most_ ? 0 : next_ + 1;
        count_ = count_ < most_ ? count_ + 1 : most_;
    }
    constexpr void clear() noexcept { count_ = next_ = 0; }
    [[nodiscard]] constexpr std::size_t size() const noexcept { return count_; }
    // It holds as many values as `keep` reserved.
    [[nodiscard]] constexpr bool full() const noexcept { return most_ > 0 && count_ == most_; }
    [[nodiscard]] constexpr std::size_t capacity() const noexcept { return most_; }  // the largest number of values
    [[nodiscard]] constexpr double operator[](std::size_t i) const noexcept {
        std::size_t const place = next_ + (most_ - count_) + i;
        return ring_[place < most_ ? place : place - most_];
    }
    // All values in order, as two spans of memory: `newer` continues where `older` ends, and may be empty.
    [[nodiscard]] constexpr std::span<double const> older() const noexcept {
        std::size_t const first = first_place();
        return {ring_.data() + first, first + count_ <= most_ ? count_ : most_ - first};
    }
    [[nodiscard]] constexpr std::span<double const> newer() const noexcept {
        return {ring_.data(), count_ - older().size()};
    }
    // All values, in no particular order.
    [[nodiscard]] constexpr std::span<double const> unordered() const noexcept { return {ring_.data(), count_}; }
    // The mean of the values in [first, end), which must not be empty.
    [[nodiscard]] SPOTTER_STRICT constexpr double mean_of(std::size_t first, std::size_t end) const noexcept {
        SPOTTER_STRICT_BODY
        double total = 0;
        for (std::size_t i = first; i < end; ++i) { total += (*this)[i]; }
        return total / static_cast<double>(end - first);
    }
    // The median, and the median distance from it (MAD). For an even number of values the lower of the two in the
    // middle.
    struct middle {
        double median = 0, deviation = 0;  // in the unit of the values; 0 without values
    };
    // O(n). `scratch` grows to the number of values; without memory for it the result is 0.
    [[nodiscard]] constexpr middle find_middle(slot_array<std::uint64_t>& scratch) const noexcept {
        if (count_ == 0 || !scratch.grow(count_)) { return {}; }
        std::array<std::size_t, 1> const rank{(count_ - 1) / 2};
        std::span<std::uint64_t> const keys{scratch.data(), count_};
        for (std::size_t i = 0; i < count_; ++i) { keys[i] = detail::key_of((*this)[i]); }
        detail::select_ranks(keys, 0, rank);
        double const median = detail::value_of_key(keys[rank[0]]);
        for (std::size_t i = 0; i < count_; ++i) { keys[i] = detail::key_of(magnitude((*this)[i] - median)); }
        detail::select_ranks(keys, 0, rank);
        return {median, detail::value_of_key(keys[rank[0]])};
    }

private:
    [[nodiscard]] constexpr std::size_t first_place() const noexcept {
        std::size_t const place = next_ + (most_ - count_);
        return place < most_ ? place : place - most_;
    }

    slot_array<double> ring_;
    std::size_t most_ = 0, count_ = 0, next_ = 0;
};

namespace detail {

// Adds a value; returns whether the window is full now.
[[nodiscard]] constexpr bool fills(recent_values& values, double value) noexcept {
    values.add(value);
    return values.full();
}

// The mean of the newer half minus that of the older half, relative to the older: a trend that single values do not
// hide.
[[nodiscard]] SPOTTER_STRICT constexpr double drift_of(recent_values const& values) noexcept {
    SPOTTER_STRICT_BODY
    double const older = values.mean_of(0, values.size() / 2);
    double const newer = values.mean_of(values.size() / 2, values.size());
    double const size = magnitude(older);
    return (newer - older) / (size > 1e-12 ? size : 1e-12);
}

}  // namespace detail

// Each kind judges the window with one more value: yes, no, or undecided while the window is not full. `measured` is
// the evidence.

// The mean of the newer half differs from that of the older by at most the fraction `by`: no progress either way.
struct stalled_over {
    std::uint64_t window = 100;  // observations
    double by = 0.001;           // fraction of the older half's mean

    // Names of the rule and of the measured value.
    static constexpr std::string_view name = "stalled", measure = "relative change over the window";
    static constexpr relation how = relation::less_equal;                     // of a finding
    [[nodiscard]] constexpr double threshold() const noexcept { return by; }  // of a finding
    [[nodiscard]] constexpr truth judge(recent_values& values, double value, slot_array<std::uint64_t>&,
                                        double& measured) const noexcept {
        if (!detail::fills(values, value)) { return truth::undecided; }
        measured = magnitude(detail::drift_of(values));
        return truth_of(measured <= by);
    }
};

// The mean of the newer half is above that of the older by more than the fraction `by` of its size.
struct rising_over {
    std::uint64_t window = 100;  // observations
    double by = 0.05;            // fraction of the older half's size

    // Names of the rule and of the measured value.
    static constexpr std::string_view name = "rising", measure = "relative change over the window";
    static constexpr relation how = relation::greater;                        // of a finding
    [[nodiscard]] constexpr double threshold() const noexcept { return by; }  // of a finding
    [[nodiscard]] constexpr truth judge(recent_values& values, double value, slot_array<std::uint64_t>&,
                                        double& measured) const noexcept {
        if (!detail::fills(values, value)) { return truth::undecided; }
        measured = detail::drift_of(values);
        return truth_of(measured > by);
    }
};

// All values of the window are equal.
struct unchanged_over {
    std::uint64_t window = 10;  // observations

    // Names of the rule and of the measured value.
    static constexpr std::string_view name = "unchanged", measure = "the same value";
    static constexpr relation how = relation::none;                          // of a finding: without a limit
    [[nodiscard]] constexpr double threshold() const noexcept { return 0; }  // none
    [[nodiscard]] constexpr truth judge(recent_values& values, double value, slot_array<std::uint64_t>&,
                                        double& measured) const noexcept {
        if (!detail::fills(values, value)) { return truth::undecided; }
        measured = value;
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (values[i] != value) { return truth::no; }
        }
        return truth::yes;
    }
};

// The value is more than `threshold` robust deviations above the median of the values before it: (x - median) /
// max(1.4826 MAD, 0.01 |median|). This is the modified z-score of Iglewicz & Hoaglin (1993), whose constant makes MAD a
// standard deviation. A spike does not enter the window. After as many spikes in a row as the window holds, the
// window is filled anew with the next values.
struct spike_over {
    std::uint64_t window = 64;  // observations, without the new one
    double deviations = 7;      // the threshold

    // Names of the rule and of the measured value.
    static constexpr std::string_view name = "spike", measure = "robust deviations above the median";
    static constexpr relation how = relation::greater;                                // of a finding
    [[nodiscard]] constexpr double threshold() const noexcept { return deviations; }  // of a finding
    [[nodiscard]] SPOTTER_STRICT constexpr truth
    judge(recent_values& values, double value, slot_array<std::uint64_t>& scratch, double& measured) const noexcept {
        SPOTTER_STRICT_BODY
        if (!values.full()) {
            values.add(value);
            return truth::undecided;
        }
        recent_values::middle const middle = values.find_middle(scratch);
        double scale = 1.4826 * middle.deviation;
        double const least = 0.01 * magnitude(middle.median);
        scale = scale > least ? scale : least;
        measured = (value - middle.median) / (scale > 1e-12 ? scale : 1e-12);
        if (measured > deviations) { return truth::yes; }
        values.add(value);
        return truth::no;
    }
};

// Holds where a matching tensor that was observed at this step satisfies it. Each tensor and mode is a series of its
// own. Values that are unknown or not finite are skipped: they enter no window and decide nothing.
template <pattern Pattern, any_statistic Statistic, class Kind>
struct series_rule {
    using kind = rule_kind;
    static constexpr std::string_view name = Kind::name;
    Pattern which;  // evaluated once for each tensor
    Statistic of;   // of the whole tensor; its name is the finding's reason
    Kind over;      // stalled_over and so on: the window and the limit

    struct series {                // of one tensor in one mode
        recent_values values;      // only finite ones
        std::uint64_t spikes = 0;  // in a row
    };
    struct state {
        slot_array<series> all;  // by tensor and mode
        slot_array<std::uint64_t> scratch;
        violation found{};
        bool judged = false;
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const {
        return which(tensor) ? needs_of(of) | stats_mask::nonfinite : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        std::size_t const first = tensor.id * mode_count;
        bool room = seen.all.grow(first + mode_count);
        for (std::size_t i = 0; room && i < mode_count; ++i) { room = seen.all[first + i].values.keep(over.window); }
        return room && seen.scratch.grow(static_cast<std::size_t>(over.window < (1U << 20) ? over.window : 1U << 20));
    }
    constexpr void observe(state& seen, observation const& it) const {
        std::size_t const place = it.tensor.id * mode_count + index_of(it.step.mode);
        measurement const value = measure(of, it.stats);
        if (!seen.all.holds(place) || !value.known || classify(value.value) >= number_class::pos_inf) { return; }
        series& mine = seen.all[place];
        double measured = 0;
        truth const answer = over.judge(mine.values, value.value, seen.scratch, measured);
        seen.judged = seen.judged || decided(answer);
        if (answer == truth::yes) { seen.found.blame(it, measured); }
        if constexpr (std::same_as<Kind, spike_over>) {
            mine.spikes = answer == truth::yes ? mine.spikes + 1 : 0;
            if (mine.spikes >= over.window) {
                mine.values.clear();
                mine.spikes = 0;
            }
        }
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        violation const found = std::exchange(seen.found, {});
        bool const judged = std::exchange(seen.judged, false);
        if (found.count == 0) { return judged ? truth::no : truth::undecided; }
        finding reported = found.as_finding(Kind::measure, Kind::how, over.threshold(), severity::warning);
        reported.reason = name_of(of);
        out.push(reported);
        return truth::yes;
    }
    [[nodiscard]] constexpr pattern_fault malformed() const noexcept { return malformed_part(which); }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept { return "window not filled"; }
};

namespace detail {

template <class Kind, pattern_source Source, any_statistic Statistic>
[[nodiscard]] constexpr auto make_series(Source which, Statistic of, Kind over) noexcept {
    return series_rule<pattern_for<Source>, Statistic, Kind>{as_pattern(which), of, over};
}

}  // namespace detail

// `stalled("loss", mean)`, `stalled("loss", mean, {.window = 500, .by = 0.01})`; likewise the others.
template <pattern_source Source, any_statistic Statistic>
[[nodiscard]] constexpr auto stalled(Source which, Statistic of, stalled_over over = {}) noexcept {
    return detail::make_series(which, of, over);
}
// See rising_over.
template <pattern_source Source, any_statistic Statistic>
[[nodiscard]] constexpr auto rising(Source which, Statistic of, rising_over over = {}) noexcept {
    return detail::make_series(which, of, over);
}
// See unchanged_over.
template <pattern_source Source, any_statistic Statistic>
[[nodiscard]] constexpr auto unchanged(Source which, Statistic of, unchanged_over over = {}) noexcept {
    return detail::make_series(which, of, over);
}
// See spike_over.
template <pattern_source Source, any_statistic Statistic>
[[nodiscard]] constexpr auto spike(Source which, Statistic of, spike_over over = {}) noexcept {
    return detail::make_series(which, of, over);
}

}  // namespace spotter::inline SPOTTER_ABI
