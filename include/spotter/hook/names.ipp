// SPDX-License-Identifier: Apache-2.0
// The bodies of names.hpp.
#pragma once

#include <spotter/core/text.hpp>
#include <spotter/hook/names.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY name_list::name_list(std::string_view pattern, std::size_t count) noexcept {
    std::size_t const hole = pattern.find("{}");
    std::string_view const behind = hole == pattern.npos ? std::string_view{} : pattern.substr(hole + 2);
    bool whole = names_.grow(count);
    for (std::size_t i = 0; whole && i < count; ++i) {
        text<20> number;
        number << i;
        whole = names_[i].assign(pattern.substr(0, hole), number, behind);
    }
    if (!whole) { names_ = {}; }
}

SPOTTER_BODY name_list::name_list(name_list const& other) noexcept {
    bool whole = names_.grow(other.size());
    for (std::size_t i = 0; whole && i < other.size(); ++i) { whole = names_[i].assign(other[i]); }
    if (!whole) { names_ = {}; }
}

}  // namespace spotter::inline SPOTTER_ABI
