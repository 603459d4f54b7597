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
[[nodiscard]] finding finding_of(rows::finding const& reported, std::uint32_t worker, Keep const& keep) {
    finding it;
    it.rule = keep(reported.rule), it.reason = keep(reported.reason), it.tensor = keep(reported.tensor);
    it.id = rule_id_named(reported.rule);
    it.measure = keep(reported.measure), it.remedy = keep(reported.remedy);
    it.step = reported.step;
    it.measured = reported.measured, it.threshold = reported.threshold;
    it.how = static_cast<relation>(reported.how);
    it.severity = static_cast<severity>(reported.severity);
    it.decision = static_cast<decision>(reported.decision);
    it.decision_is_set = reported.decision_is_set;
    it.others = reported.others;
    it.worker = worker;
    it.detail << reported.detail;
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
