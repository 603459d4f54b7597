// SPDX-License-Identifier: Apache-2.0
// Trial (L4): a finding out of its row.
#pragma once

#include <spotter/format/rows.hpp>
#include <spotter/rule/finding.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// keep(text) gives a view of the same text that lives as long as whoever holds the finding.
template <class Keep>
[[nodiscard]] finding finding_of(rows::finding const& told, std::uint32_t worker, Keep const& keep) {
    finding it;
    it.rule = keep(told.rule), it.reason = keep(told.reason), it.tensor = keep(told.tensor);
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

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
