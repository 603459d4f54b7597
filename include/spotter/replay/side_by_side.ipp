// SPDX-License-Identifier: Apache-2.0
// The bodies of side_by_side.hpp.
#pragma once

#include <spotter/replay/side_by_side.hpp>

#include <map>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY std::vector<std::string> unpaired_names(streams const& which) {
    std::map<std::string_view, std::size_t> times;
    for (streams::one const& each : which.all()) {
        for (auto const& tensor : each.record->index().tensors()) {
            if (!tensor->entries.empty()) { ++times[tensor->name]; }
        }
    }
    std::vector<std::string> found;
    for (auto const& [name, count] : times) {
        if (count < which.all().size()) { found.emplace_back(name); }
    }
    return found;
}

}  // namespace spotter::inline SPOTTER_ABI::detail
