// SPDX-License-Identifier: Apache-2.0
// The bodies of shared_names.hpp.
#pragma once

#include <spotter/replay/shared_names.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY tensor_id shared_names::id_of(std::string_view name) {
    auto const [it, fresh] = ids_.try_emplace(name, static_cast<tensor_id>(all_.size()));
    if (fresh) { all_.emplace_back(); }
    return it->second;
}

SPOTTER_BODY void shared_names::say(tensor_info const& info, std::uint32_t from) {
    entry& mine = all_[info.id];
    if (mine.version > 0 && mine.from != from) { return; }
    mine.info = info;
    mine.from = from;
    ++mine.version;
}

}  // namespace spotter::inline SPOTTER_ABI::detail
