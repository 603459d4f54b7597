// SPDX-License-Identifier: Apache-2.0
// Trial (L4): decodes findings, and the lists in run_begin and run_end rows.
#pragma once

#include <spotter/format/decode.hpp>
#include <spotter/rule/finding.hpp>
#include <spotter/trial/recorded.hpp>

#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// keep(text) returns a view of a copy of the text that lives as long as the finding.
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
// Replaces `into` by the list in a run_begin or run_end row. False if the row is malformed.
[[nodiscard]] inline bool take_collections(rows::run_begin const& from, std::vector<recorded_collection>& into) {
    into.clear();
    byte_view list = from.list;
    for (std::uint64_t i = 0; i < from.collections; ++i) {
        rows::collection each;
        if (!read_collection(list, each)) { return false; }
        into.push_back({std::string{each.name}, std::string{each.what}});
    }
    return true;
}
[[nodiscard]] inline bool take_coverages(rows::run_end const& from, std::uint32_t worker,
                                         std::vector<recorded_coverage>& into) {
    into.clear();
    byte_view list = from.list;
    for (std::uint64_t i = 0; i < from.coverages; ++i) {
        rows::coverage each;
        if (!read_coverage(list, each)) { return false; }
        into.push_back({std::string{each.rule}, std::string{each.reason}, each.matched, each.judged, each.undecided,
                        each.fired, worker});
    }
    return true;
}

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
