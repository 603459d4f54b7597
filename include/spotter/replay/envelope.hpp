// SPDX-License-Identifier: Apache-2.0
// Replay (L5): envelopes: the healthy ranges of statistics, learned from records, for the rule outside_envelope.
#pragma once

#include <spotter/replay/streams.hpp>
#include <spotter/rule/healthy_range.hpp>

#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// For each tensor, mode, statistic and phase of a run: the range of nearly all of its values, or of its means over a
// window. Owns what the rules read: `outside_envelope{.healthy = &learned}`.
class envelope : public healthy_table {
public:
    // The healthy ranges of one statistic of a tensor in a mode.
    struct entry {
        std::string tensor{};                       // its name
        spotter::mode mode = spotter::mode::train;  // the mode in which it was observed
        statistic of{statistic_id::mean};           // which statistic
        std::vector<healthy_range> phases{};        // indexed by phase_of

        friend bool operator==(entry const&, entry const&) = default;
    };

    envelope() = default;
    // Entries may be in any order. Of several for the same tensor, mode and statistic one counts; an entry without a
    // range is left out.
    explicit envelope(std::vector<entry> entries, std::uint64_t window = 1);
    envelope(envelope const& other) : healthy_table{other}, entries_{other.entries_} { show(); }
    envelope(envelope&& other) noexcept;
    envelope& operator=(envelope other) noexcept;
    ~envelope() = default;

    [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
    // All entries, sorted by tensor, mode and statistic.
    [[nodiscard]] std::vector<entry> const& entries() const noexcept { return entries_; }
    friend bool operator==(envelope const& a, envelope const& b) noexcept {
        return a.window == b.window && a.entries_ == b.entries_;
    }

private:
    void show();

    std::vector<entry> entries_{};
    std::vector<healthy_series> shown_{};
};

// A range goes from the `low` quantile of the values to the `high` one, by nearest rank. With these defaults and fewer
// than 200 values in a phase, it goes from the smallest to the largest value.
struct envelope_options {
    double low = 0.005, high = 0.995;  // the quantiles that bound a range
    // Above 1: ranges of means over this many observations of a run (`recent_mean`), for the rule drift.
    std::uint64_t window = 1;
};

// Learns from one run or several, `learn_envelope({a, b, c}, {l2, mean_abs})`; pools all values of all runs and
// workers. Use several runs: two runs that differ only by the seed differ more than one run within a phase. It only
// learns what was recorded, as a statistic or as values; a statistic without any value has no entry. Reads one tensor
// at a time and needs 24 bytes of memory for each of its observations.
[[nodiscard]] envelope learn_envelope(streams const& healthy, std::vector<statistic> const& what,
                                      envelope_options how = {});

// The run's tensors that the table does not have; sorted.
[[nodiscard]] std::vector<std::string> unknown_to(healthy_table const& known, trial const& run);

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY envelope::envelope(std::vector<entry> entries, std::uint64_t over) : entries_{std::move(entries)} {
    window = over;
    for (entry& each : entries_) {
        while (!each.phases.empty() && each.phases.back().count == 0) { each.phases.pop_back(); }
    }
    entries_.erase(
        std::remove_if(entries_.begin(), entries_.end(), [](entry const& each) { return each.phases.empty(); }),
        entries_.end());
    auto const key = [](entry const& it) {
        return std::tuple{std::string_view{it.tensor}, it.mode, it.of.id, it.of.abs};
    };
    std::sort(entries_.begin(), entries_.end(), [&](entry const& a, entry const& b) { return key(a) < key(b); });
    entries_.erase(
        std::unique(entries_.begin(), entries_.end(), [&](entry const& a, entry const& b) { return key(a) == key(b); }),
        entries_.end());
    show();
}

SPOTTER_BODY envelope::envelope(envelope&& other) noexcept
    : healthy_table{other}, entries_{std::move(other.entries_)}, shown_{std::move(other.shown_)} {
    other.series = {};  // the move keeps the entries at their addresses
}

SPOTTER_BODY envelope& envelope::operator=(envelope other) noexcept {
    std::swap(entries_, other.entries_);
    std::swap(shown_, other.shown_);
    std::swap(series, other.series);
    std::swap(window, other.window);
    return *this;
}

SPOTTER_BODY void envelope::show() {
    shown_.clear();
    for (entry const& each : entries_) { shown_.push_back({each.tensor, each.mode, each.of, each.phases}); }
    series = shown_;
}

}  // namespace spotter::inline SPOTTER_ABI

namespace spotter::inline SPOTTER_ABI::detail {

[[nodiscard]] SPOTTER_BODY healthy_range range_of(std::vector<double>& values, envelope_options how) {
    std::sort(values.begin(), values.end());
    auto const at = [&](double level) {
        double const rank = level * static_cast<double>(values.size());
        auto place = static_cast<std::size_t>(rank);
        place += static_cast<double>(place) < rank ? 1 : 0;
        return values[std::clamp(place, std::size_t{1}, values.size()) - 1];
    };
    return {at(how.low), at(how.high), values.size()};
}

SPOTTER_BODY void gather_values(worker_reader const& from, std::string const& name, mode which, statistic of,
                                std::uint64_t window, std::vector<std::vector<double>>& phases) {
    worker_track const track{from, name};
    if (track.info().type == dtype::text) { return; }
    recent_mean recent;
    for (point const& each : track.history(of, during{which})) {
        if (!each.known || !is_finite(each.value)) { continue; }
        recent.add(each.value, window);
        if (!recent.full(window)) { continue; }
        std::size_t const phase = phase_of(each.step);
        if (phases.size() <= phase) { phases.resize(phase + 1); }
        phases[phase].push_back(recent.value);
    }
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY envelope learn_envelope(streams const& healthy, std::vector<statistic> const& what, envelope_options how) {
    how.window = how.window < 1 ? 1 : how.window;
    std::set<std::string> names;
    for (streams::one const& each : healthy.all()) {
        for (auto const& tensor : each.record->index().tensors()) { names.insert(tensor->name); }
    }
    std::vector<envelope::entry> entries;
    for (std::string const& name : names) {
        for (mode const which : {mode::train, mode::eval, mode::predict}) {
            for (statistic const of : what) {
                std::vector<std::vector<double>> phases;
                for (streams::one const& each : healthy.all()) {
                    detail::gather_values(*each.record, name, which, of, how.window, phases);
                }
                if (phases.empty()) { continue; }
                envelope::entry& made = entries.emplace_back();
                made.tensor = name, made.mode = which, made.of = of;
                for (auto& values : phases) {
                    made.phases.push_back(values.empty() ? healthy_range{} : detail::range_of(values, how));
                }
            }
        }
    }
    return envelope{std::move(entries), how.window};
}

SPOTTER_BODY std::vector<std::string> unknown_to(healthy_table const& known, trial const& run) {
    std::vector<std::string> names = run.names();
    names.erase(
        std::remove_if(names.begin(), names.end(), [&](std::string const& each) { return !known.of(each).empty(); }),
        names.end());
    return names;
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
