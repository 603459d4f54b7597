// SPDX-License-Identifier: Apache-2.0
// The bodies of streams.hpp.
#pragma once

#include <spotter/replay/streams.hpp>

#include <functional>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY streams::streams(std::initializer_list<std::reference_wrapper<trial const>> runs) {
    for (trial const& each : runs) { runs_.push_back(&each); }
    take_records();
}

SPOTTER_BODY streams::streams(std::vector<trial> const& runs) {
    for (trial const& each : runs) { runs_.push_back(&each); }
    take_records();
}

SPOTTER_BODY void streams::take_records() {
    for (trial const* run : runs_) {
        for (auto const& each : run->readers()) {
            auto const place = static_cast<std::uint32_t>(all_.size());
            all_.push_back({each.get(), runs_.size() == 1 ? each->number() : place});
        }
    }
}

}  // namespace spotter::inline SPOTTER_ABI
