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
    envelope(envelope const& other) : healthy_table{}, entries_{other.entries_} { show(); }
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
#include <spotter/replay/envelope.ipp>
#endif
