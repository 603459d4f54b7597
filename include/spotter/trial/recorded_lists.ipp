// SPDX-License-Identifier: Apache-2.0
// The bodies of recorded_lists.hpp.
#pragma once

#include <spotter/trial/recorded_lists.hpp>

#include <string>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY bool take_collections(rows::run_begin const& from, std::vector<recorded_collection>& into) {
    into.clear();
    byte_view list = from.list;
    for (std::uint64_t i = 0; i < from.collections; ++i) {
        rows::collection each;
        if (!read_collection(list, each)) { return false; }
        into.push_back({std::string{each.name}, std::string{each.what}});
    }
    return true;
}

SPOTTER_BODY bool take_coverages(rows::run_end const& from, std::uint32_t worker,
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

}  // namespace spotter::inline SPOTTER_ABI::detail
