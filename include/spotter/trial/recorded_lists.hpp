// SPDX-License-Identifier: Apache-2.0
// Trial (L4): findings, and the lists of a beginning and an end, out of their rows.
#pragma once

#include <spotter/format/decode.hpp>
#include <spotter/rule/finding.hpp>
#include <spotter/trial/recorded.hpp>

#include <vector>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// keep(text) gives a view of the same text that lives as long as whoever holds the finding.
template <class Keep>
[[nodiscard]] finding finding_of(rows::finding const& told, std::uint32_t worker, Keep const& keep) {
    finding it;
    it.rule = keep(told.rule), it.reason = keep(told.reason), it.tensor = keep(told.tensor);
    it.id = rule_id_named(told.rule);
    it.measure = keep(told.measure), it.remedy = keep(told.remedy);
    it.step = told.step;
    it.measured = told.measured, it.threshold = told.threshold;
    it.how = static_cast<relation>(told.how);
    it.severity = static_cast<severity>(told.severity);
    it.decision = static_cast<decision>(told.decision);
    it.decision_is_set = told.decision_is_set;
    it.others = told.others;
    it.worker = worker;
    it.detail << told.detail;
    return it;
}
// The lists in the rows of a beginning and an end, in place of what was there. False where they are malformed.
[[nodiscard]] bool take_collections(rows::run_begin const& from, std::vector<recorded_collection>& into);
[[nodiscard]] bool take_coverages(rows::run_end const& from, std::uint32_t worker,
                                  std::vector<recorded_coverage>& into);

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/trial/recorded_lists.ipp>
#endif
