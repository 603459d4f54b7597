// SPDX-License-Identifier: Apache-2.0
// Trial (L4): what the workers of a run say about themselves, in one: findings, coverages, damage, totals. Gathered
// once it is asked for.
#pragma once

#include <spotter/trial/worker_list.hpp>

namespace spotter::inline SPOTTER_ABI {

// By worker, lowest first; each finding and coverage says whose it is, of damage the file does.
struct joint_notes {
    std::vector<recorded_collection> collections{};  // of equal names the lowest worker's
    std::vector<finding> findings{};                 // in the order of each
    std::vector<recorded_coverage> coverages{};      // equal ones as one
    run_totals totals{};                             // sums
    std::string why_ended{};                         // of the lowest of those that ended worst

    // Of all workers; `worst` is the run's status.
    void gather(worker_list const& workers, run_status worst);
    // Looks at every frame of every worker: costs more than all the rest.
    [[nodiscard]] static std::vector<damaged_place> damage(worker_list const& workers);

private:
    void add(recorded_collection const& each);
    // Workers that have the same rule at the same place are one row, but those that could not judge by it stay apart
    // from those that could, so that the reason is not lost.
    void add(recorded_coverage const& each, std::size_t place);
    void add(run_totals const& each) noexcept;

    std::vector<std::size_t> places_{};  // of each coverage, in its worker's list
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/trial/joint_notes.ipp>
#endif
