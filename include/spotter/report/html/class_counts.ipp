// SPDX-License-Identifier: Apache-2.0
// The bodies of class_counts.hpp.
#pragma once

#include <spotter/config.hpp>
#include <spotter/report/html/class_counts.hpp>

namespace spotter::inline SPOTTER_ABI::html {

SPOTTER_BODY void class_counts::add(std::uint32_t label, std::uint32_t said) {
    ++pairs[{label, said}];
    ++labels[label];
    ++predictions[said];
    ++total;
    right += label == said ? 1 : 0;
}

SPOTTER_BODY std::uint64_t class_counts::of(std::uint32_t label, std::uint32_t said) const {
    auto const it = pairs.find({label, said});
    return it == pairs.end() ? 0 : it->second;
}

}  // namespace spotter::inline SPOTTER_ABI::html
