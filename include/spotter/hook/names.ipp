// SPDX-License-Identifier: Apache-2.0
// The bodies of names.hpp.
#pragma once

#include <spotter/hook/names.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY name_list::name_list(std::string_view pattern, std::size_t count) {
    names_.reserve(count);
    std::size_t const hole = pattern.find("{}");
    for (std::size_t i = 0; i < count; ++i) {
        std::string name{pattern.substr(0, hole)};
        name += std::to_string(i);
        if (hole != pattern.npos) { name += pattern.substr(hole + 2); }
        names_.push_back(std::move(name));
    }
}

}  // namespace spotter::inline SPOTTER_ABI
