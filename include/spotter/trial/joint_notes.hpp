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

#if SPOTTER_BODIES

SPOTTER_BODY void joint_notes::gather(worker_list const& workers, run_status worst) {
    for (auto const& each : workers.all()) {
        worker_index const& its = each->index();
        for (recorded_collection const& collection : its.collections()) { add(collection); }
        findings.insert(findings.end(), its.findings().begin(), its.findings().end());
        for (std::size_t i = 0; i < its.coverages().size(); ++i) { add(its.coverages()[i], i); }
        add(its.totals());
        if (why_ended.empty() && each->status() == worst && !its.ended_why().empty()) {
            why_ended = "worker " + std::to_string(each->number()) + ": " + its.ended_why();
        }
    }
    if (why_ended.empty() && worst == run_status::died && workers.missing() > 0) {
        why_ended =
            std::to_string(workers.missing()) + " of " + std::to_string(workers.expected()) + " workers never began";
    }
}

SPOTTER_BODY std::vector<damaged_place> joint_notes::damage(worker_list const& workers) {
    std::vector<damaged_place> found;
    for (auto const& each : workers.all()) {
        auto const& its = each->index().damage();
        found.insert(found.end(), its.begin(), its.end());
        if (each->trouble()) { found.push_back({each->path(), 0, 0}); }
    }
    return found;
}

SPOTTER_BODY void joint_notes::add(recorded_collection const& each) {
    bool const known = std::any_of(collections.begin(), collections.end(),
                                   [&](recorded_collection const& other) { return other.name == each.name; });
    if (!known) { collections.push_back(each); }
}

SPOTTER_BODY void joint_notes::add(recorded_coverage const& each, std::size_t place) {
    for (std::size_t i = 0; i < coverages.size(); ++i) {
        recorded_coverage& into = coverages[i];
        if (places_[i] != place || into.rule != each.rule || into.reason != each.reason) { continue; }
        into.matched = (std::max)(into.matched, each.matched);
        into.judged += each.judged, into.undecided += each.undecided, into.fired += each.fired;
        into.workers += 1;
        return;
    }
    coverages.push_back(each);
    places_.push_back(place);
}

SPOTTER_BODY void joint_notes::add(run_totals const& each) noexcept {
    totals.stored += each.stored, totals.dropped += each.dropped, totals.thinned += each.thinned;
    totals.closes_lost += each.closes_lost, totals.refused += each.refused, totals.bytes += each.bytes;
}

#endif

}  // namespace spotter::inline SPOTTER_ABI
