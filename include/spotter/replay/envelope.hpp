// SPDX-License-Identifier: Apache-2.0
// Replay (L5): what healthy runs look like, learned from their records, for the rule outside_envelope.
#pragma once

#include <spotter/replay/streams.hpp>
#include <spotter/rule/healthy_range.hpp>

#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// Per tensor, mode and statistic, for each phase of a run, the range in which nearly all of its values lay, or of its
// means over a window. Owns what the rules read: `outside_envelope{.healthy = &learned}`.
class envelope : public healthy_table {
public:
    // What is healthy of one statistic of a tensor in a mode.
    struct entry {
        std::string tensor{};                       // its name
        spotter::mode mode = spotter::mode::train;  // that it was observed in
        statistic of{statistic_id::mean};           // which
        std::vector<healthy_range> phases{};        // by phase_of

        friend bool operator==(entry const&, entry const&) = default;
    };

    envelope() = default;
    // In any order; of several entries for the same tensor, mode and statistic one counts; one without a range is left
    // out.
    explicit envelope(std::vector<entry> entries, std::uint64_t window = 1);
    envelope(envelope const& other) : healthy_table{}, entries_{other.entries_} { show(); }
    envelope(envelope&& other) noexcept;
    envelope& operator=(envelope other) noexcept;
    ~envelope() = default;

    [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
    // All of them, by tensor, mode and statistic.
    [[nodiscard]] std::vector<entry> const& entries() const noexcept { return entries_; }
    friend bool operator==(envelope const& a, envelope const& b) noexcept {
        return a.window == b.window && a.entries_ == b.entries_;
    }

private:
    void show();

    std::vector<entry> entries_{};
    std::vector<healthy_series> shown_{};
};

// A range goes from the `low` quantile of the values to the `high` one, by nearest rank: with fewer than 200 values in
// a phase, and these two, from the smallest to the largest.
struct envelope_options {
    double low = 0.005, high = 0.995;  // the quantiles that bound a range
    // Above 1: of means over so many observations of a run (`recent_mean`), for the rule drift.
    std::uint64_t window = 1;
};

// Learns from one run or from several, `learn_envelope({a, b, c}, {l2, mean_abs})`: all values of all runs and workers
// are pooled. Two runs that differ in nothing but the seed differ more than one run within a phase, so several are
// better. What was not recorded, as a statistic or as values, is not learned; a statistic without any value has no
// entry. Reads one tensor at a time: memory is 24 bytes for each of its observations.
[[nodiscard]] envelope learn_envelope(streams const& healthy, std::vector<statistic> const& what,
                                      envelope_options how = {});

// Which of a run's tensors it does not know; sorted.
[[nodiscard]] std::vector<std::string> unknown_to(healthy_table const& known, trial const& run);

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/replay/envelope.ipp>
#endif
