// SPDX-License-Identifier: Apache-2.0
// Trial (L4): joins what the workers of a run report about themselves: findings, coverages, damage, totals. Joined on
// demand.
#pragma once

#include <spotter/trial/worker_list.hpp>

namespace spotter::inline SPOTTER_ABI {

// By worker, the lowest first. Findings and coverages have a worker number; damage has a file.
struct joint_notes {
    std::vector<recorded_collection> collections{};  // of equal names, the lowest worker's
    std::vector<finding> findings{};                 // in each worker's order
    std::vector<recorded_coverage> coverages{};      // equal ones are merged
    run_totals totals{};                             // sums
    std::string why_ended{};                         // from the lowest of the workers that ended worst

    // Joins all workers; `worst` is the run's status.
    void gather(worker_list const& workers, run_status worst);
    // Checks every frame of every worker: the most expensive call.
    [[nodiscard]] static std::vector<damaged_place> damage(worker_list const& workers);

private:
    void add(recorded_collection const& each);
    // Workers with the same rule at the same place share a row. Those that could not judge have a separate row, so that
    // the reason is kept.
    void add(recorded_coverage const& each, std::size_t place);
    void add(run_totals const& each) noexcept;

    std::vector<std::size_t> places_{};  // of each coverage in its worker's list
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/trial/joint_notes.ipp>
#endif
