// SPDX-License-Identifier: Apache-2.0
// Replay (L5): what healthy runs look like, learned from their records, for the rule outside_envelope.
#pragma once

#include <spotter/replay/streams.hpp>
#include <spotter/rule/healthy_range.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// Per tensor, mode and statistic, for each phase of a run, the range in which nearly all of its values lay. Owns what the rule reads:
// `outside_envelope{.healthy = &learned}`.
class envelope : public healthy_table {
public:
    struct entry {
        std::string tensor{};
        spotter::mode mode = spotter::mode::train;
        statistic of{statistic_id::mean};
        std::vector<healthy_range> phases{};  // by phase_of

        friend bool operator==(entry const&, entry const&) = default;
    };

    envelope() = default;
    // In any order; of several entries for the same tensor, mode and statistic one counts; one without a range is left out.
    explicit envelope(std::vector<entry> entries) : entries_{std::move(entries)} {
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
        entries_.erase(std::unique(entries_.begin(), entries_.end(),
                                   [&](entry const& a, entry const& b) { return key(a) == key(b); }),
                       entries_.end());
        show();
    }
    envelope(envelope const& other) : healthy_table{}, entries_{other.entries_} { show(); }
    envelope(envelope&& other) noexcept
        : healthy_table{other}, entries_{std::move(other.entries_)}, shown_{std::move(other.shown_)} {
        other.series = {};  // the entries stay where they are in memory
    }
    envelope& operator=(envelope other) noexcept {
        std::swap(entries_, other.entries_);
        std::swap(shown_, other.shown_);
        std::swap(series, other.series);
        return *this;
    }
    ~envelope() = default;

    [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
    [[nodiscard]] std::vector<entry> const& entries() const noexcept { return entries_; }
    friend bool operator==(envelope const& a, envelope const& b) noexcept { return a.entries_ == b.entries_; }

private:
    void show() {
        shown_.clear();
        for (entry const& each : entries_) { shown_.push_back({each.tensor, each.mode, each.of, each.phases}); }
        series = shown_;
    }

    std::vector<entry> entries_{};
    std::vector<healthy_series> shown_{};
};

// A range goes from the `low` quantile of the values to the `high` one, by nearest rank: with fewer than 200 values in a phase, and these
// levels, from the smallest to the largest.
struct envelope_levels {
    double low = 0.005, high = 0.995;
};

namespace detail {

[[nodiscard]] inline healthy_range range_of(std::vector<double>& values, envelope_levels levels) {
    std::sort(values.begin(), values.end());
    auto const at = [&](double level) {
        double const rank = level * static_cast<double>(values.size());
        auto place = static_cast<std::size_t>(rank);
        place += static_cast<double>(place) < rank ? 1 : 0;
        return values[std::clamp(place, std::size_t{1}, values.size()) - 1];
    };
    return {at(levels.low), at(levels.high), values.size()};
}
inline void gather_values(worker_reader const& from, std::string const& name, mode which, statistic of,
                          std::vector<std::vector<double>>& phases) {
    worker_track const told{from, name};
    if (told.info().type == dtype::text) { return; }
    for (point const& each : told.history(of, during{which})) {
        if (!each.known || !is_finite(each.value)) { continue; }
        std::size_t const phase = phase_of(each.step.index);
        if (phases.size() <= phase) { phases.resize(phase + 1); }
        phases[phase].push_back(each.value);
    }
}

}  // namespace detail

// Learns from one run or from several, `learn_envelope({a, b, c}, {l2, mean_abs})`: all values of all runs and workers are pooled. Two
// runs that differ in nothing but the seed differ more than one run within a phase, so several are better. What was not recorded, as a
// statistic or as values, is not learned; a statistic without any value has no entry. Reads one tensor at a time: memory is 24 bytes
// for each of its observations.
[[nodiscard]] inline envelope learn_envelope(streams const& healthy, std::vector<statistic> const& what,
                                             envelope_levels levels = {}) {
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
                    detail::gather_values(*each.record, name, which, of, phases);
                }
                if (phases.empty()) { continue; }
                envelope::entry& made = entries.emplace_back();
                made.tensor = name, made.mode = which, made.of = of;
                for (auto& values : phases) {
                    made.phases.push_back(values.empty() ? healthy_range{} : detail::range_of(values, levels));
                }
            }
        }
    }
    return envelope{std::move(entries)};
}

// Which of a run's tensors it does not know; sorted.
[[nodiscard]] inline std::vector<std::string> unknown_to(healthy_table const& known, trial const& run) {
    std::vector<std::string> names = run.names();
    names.erase(
        std::remove_if(names.begin(), names.end(), [&](std::string const& each) { return !known.of(each).empty(); }),
        names.end());
    return names;
}

}  // namespace spotter::inline SPOTTER_ABI
