// SPDX-License-Identifier: Apache-2.0
// Workbench, diff: where two trainings that should be equal diverge: the first step, tensor and bit, also while both
// run.
#pragma once

#include <spotter/replay/step_rows.hpp>
#include <spotter/trial/trial.hpp>
#include <spotter/workbench/parting.hpp>

#include <optional>
#include <string>

namespace spotter::inline SPOTTER_ABI::detail {

// Compares the lowest workers of two records, as far as both have been written; texts and times are ignored.
class parting_walk {
public:
    parting_walk(trial& a, trial& b) : a_{a}, b_{b}, rows_a_{index_of(a)}, rows_b_{index_of(b)} {}
    parting_walk(parting_walk const&) = delete;
    parting_walk& operator=(parting_walk const&) = delete;

    // Compares what both wrote since the last call. Once they diverge, it always returns that point.
    [[nodiscard]] std::optional<parting_point> const& look();
    // The number of steps that are equal in both.
    [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }

private:
    struct snapshot {  // a tensor at a step
        std::string name{};
        summary stats{};
        bool has_values = false;
        bool is_scalar = false;
        std::vector<std::byte> value{};  // of a scalar
    };

    [[nodiscard]] static worker_index const& index_of(trial const& run) { return run.readers().front()->index(); }
    [[nodiscard]] static std::vector<snapshot> snapshots_of(worker_index const& run, step_rows const& rows);
    [[nodiscard]] std::optional<parting_point> compare(step_id step, std::vector<snapshot> const& a,
                                                       std::vector<snapshot> const& b) const;
    [[nodiscard]] std::optional<parting_point> compare(step_id step, snapshot const& a, snapshot const& b) const;

    trial& a_;
    trial& b_;
    step_rows rows_a_, rows_b_;
    std::size_t steps_ = 0;
    std::optional<parting_point> found_{};
};

}  // namespace spotter::inline SPOTTER_ABI::detail
